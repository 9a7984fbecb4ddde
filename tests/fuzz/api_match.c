/* api_match(): a match has an operation, and its parameters are not empty; a failure has an error
 * code. Input: method, newline, path. */
#include "base/base.h"
#include "fuzz.h"
#include "http/api.h"

#include <string.h>

static void check_match(const struct api_match *match)
{
	require(match->op);
	require(match->param_count <= API_PARAMS_MAX);
	for (size_t i = 0; i < match->param_count; i++) {
		require(match->params[i].name && match->params[i].value);
		require(match->params[i].value[0] != '\0');
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int is_ready;
	if (!is_ready) {
		api_init();
		is_ready = 1;
	}
	const char *method = (const char *)data;
	const char *end = size > 0 ? memchr(method, '\n', size) : NULL;
	if (!end)
		return 0;
	const char *path = end + 1;
	struct arena *arena = arena_new();
	struct api_match match = {0};
	enum err_code code = api_match(arena, method, (size_t)(end - method), path,
	                               size - (size_t)(path - method), &match);
	if (code == ERR_NONE)
		check_match(&match);
	else
		require(code == ERR_NOT_FOUND || (code == ERR_METHOD && match.allow));
	arena_free(arena);
	return 0;
}
