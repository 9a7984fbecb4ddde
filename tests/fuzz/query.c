/* query_get(), query_params() and query_encode(): encoding a value and reading it back gives the
 * same value; both readers find a name equally often. */
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
	struct query_param *params;
	size_t read = query_params(arena, (const char *)data, size, &params), found = 0;
	for (size_t i = 0; i < read; i++)
		found += params[i].name && strcmp(params[i].name, "limit") == 0;
	require(found == count);
	arena_free(arena);
	return 0;
}
