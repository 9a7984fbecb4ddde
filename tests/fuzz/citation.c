/* citations_take(): whatever a model writes, only members that the one run has are cited. */
#include "chat/citation.h"

#include "base/base.h"
#include "fuzz.h"
#include "json/json.h"

#include <string.h>

static const char RUN[] = "{\"run_id\":17,\"error\":\"no space\",\"secret\":1}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new();
	struct labelled_runs runs = {.count = 1};
	require(json_parse(arena, RUN, strlen(RUN), &runs.runs[0], NULL) == ERR_NONE);
	struct citations citations = citations_new(arena, json_doc_new(arena));
	const char *text = arena_strndup(arena, (const char *)data, size);
	require(strlen(citations_take(&citations, text, &runs)) <= 2 * strlen(text));
	require(yyjson_mut_arr_size(citations.list) <= 2);
	arena_free(arena);
	return 0;
}
