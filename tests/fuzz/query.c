/* query_get() and query_encode(): encoding a value and reading it back gives the same value. */
#include "http/query.h"

#include "base/base.h"
#include "fuzz.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new();
	size_t count = 0;
	const char *value = query_get(arena, (const char *)data, size, "limit", &count);
	require(!value || count > 0);
	if (value) {
		char *again = arena_printf(arena, "limit=%s", query_encode(arena, value));
		const char *back = query_get(arena, again, strlen(again), "limit", NULL);
		require(back && strcmp(back, value) == 0);
	}
	arena_free(arena);
	return 0;
}
