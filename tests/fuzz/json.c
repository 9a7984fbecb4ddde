/* json_parse(): what it takes can be written, and read again to the same text. */
#include "fuzz.h"

#include <string.h>

#include "defines.h"
#include "json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new();
	const char *why = NULL;
	yyjson_val *root = NULL;
	if (json_parse(arena, (const char *)data, size, &root, &why) == ERR_NONE) {
		size_t first_length, second_length;
		char *first = json_write(arena, root, &first_length);
		require(json_parse(arena, first, first_length, &root, NULL) == ERR_NONE);
		char *second = json_write(arena, root, &second_length);
		require(first_length == second_length && memcmp(first, second, first_length) == 0);
	} else {
		require(why && why[0] != '\0');
	}
	arena_free(arena);
	return 0;
}
