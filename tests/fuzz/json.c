/* json_parse(): json_write() can write an accepted text, and parsing and writing the result again
 * gives the same text. What json_parse() accepts, json_parse_lenient() reads as the same, and what
 * that accepts can be written as text that json_parse() does. json_quote() turns any bytes without
 * NUL into a string that json_parse() accepts and that is not shorter than the bytes. */
#include "json/json.h"

#include "base/base.h"
#include "fuzz.h"

#include <string.h>

static void check_parse(struct arena *arena, const char *text, size_t length)
{
	const char *why = NULL;
	yyjson_val *root = NULL, *again = NULL;
	if (json_parse(arena, text, length, &root, &why) != ERR_NONE) {
		require(!root && why && strstr(why, " at byte "));
		return;
	}
	size_t first_length, second_length;
	char *first = json_write(arena, root, &first_length);
	require(json_parse_lenient(arena, text, length, SIZE_MAX, &again, NULL) == ERR_NONE);
	require(yyjson_equals(root, again));
	require(json_parse(arena, first, first_length, &again, NULL) == ERR_NONE);
	char *second = json_write(arena, again, &second_length);
	require(first_length == second_length && memcmp(first, second, first_length) == 0);
}

/* A duplicate name is the one fault that stays. */
static void check_lenient(struct arena *arena, const char *text, size_t length)
{
	const char *why = NULL;
	yyjson_val *root = NULL, *again;
	if (json_parse_lenient(arena, text, length, SIZE_MAX, &root, &why) != ERR_NONE) {
		require(!root && why && strstr(why, " at byte "));
		return;
	}
	size_t written_length;
	char *written = json_write(arena, root, &written_length);
	require(json_parse(arena, written, written_length, &again, &why) == ERR_NONE ||
	        strstr(why, "has a duplicate member name"));
}

static void check_quote(struct arena *arena, const char *text, size_t length)
{
	struct buf quoted = {.arena = arena};
	yyjson_val *string = NULL;
	json_quote(&quoted, text, length);
	enum err_code err = json_parse(arena, quoted.data, quoted.length, &string, NULL);
	require((err == ERR_NONE) == (length == 0 || !memchr(text, '\0', length)));
	require(err != ERR_NONE || yyjson_get_len(string) >= length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new();
	check_parse(arena, (const char *)data, size);
	check_lenient(arena, (const char *)data, size);
	check_quote(arena, (const char *)data, size);
	arena_free(arena);
	return 0;
}
