/* X-Forwarded-For and X-Forwarded-Proto from a trusted peer: the result is always an address and a
 * scheme. Input: four lines: the trusted proxies, two fields of addresses, one of schemes. */
#include "proxy/forwarded.h"

#include "base/base.h"
#include "fuzz.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

static bool is_address(const char *text)
{
	uint8_t bytes[16];
	return inet_pton(AF_INET, text, bytes) == 1 || inet_pton(AF_INET6, text, bytes) == 1;
}

/* The next line as text; "" after the last one. */
static const char *next_line(struct arena *arena, const uint8_t **at, const uint8_t *end)
{
	const uint8_t *stop = memchr(*at, '\n', (size_t)(end - *at));
	size_t length = (size_t)((stop ? stop : end) - *at);
	const char *line = arena_strndup(arena, (const char *)*at, length);
	*at += length + (stop != NULL);
	return line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const NAMES[] = {"X-Forwarded-For", "x-forwarded-for",
	                                    "X-Forwarded-Proto"};
	static const char *const PEERS[] = {"10.0.0.1", "::ffff:10.0.0.1", "unix"};
	struct arena *arena = arena_new();
	const uint8_t *at = data, *end = data + size;
	const struct trusted *trusted;
	if (trusted_parse(arena, next_line(arena, &at, end), &trusted) != ERR_NONE)
		require(trusted_parse(arena, "10.0.0.0/8, unix", &trusted) == ERR_NONE);
	struct http_field fields[ARRAY_LEN(NAMES)];
	for (size_t i = 0; i < ARRAY_LEN(NAMES); i++)
		fields[i] = http_field_of(NAMES[i], next_line(arena, &at, end));
	const struct http_head head = {.fields = fields, .field_count = ARRAY_LEN(fields)};
	for (size_t i = 0; i < ARRAY_LEN(PEERS); i++) {
		struct forwarded from =
			forwarded_read(trusted, arena, &head, (struct forwarded){PEERS[i], "http"});
		require(is_address(from.client) || from.client == PEERS[i]);
		require(strcmp(from.scheme, "http") == 0 || strcmp(from.scheme, "https") == 0);
	}
	arena_free(arena);
	return 0;
}
