/** Steps of the search engine's tests. */
#pragma once

#include "engine/engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/** Merge what `kind` selects, if there is anything to merge. */
static inline void run_merge(struct engine *engine, enum engine_merge_kind kind)
{
	struct engine_merge *merge = engine_merge_new(engine, kind);
	if (!merge)
		return;
	assert_true(engine_merge_run(merge));
	engine_merge_commit(engine, merge);
}

/** Merge everything into one part. */
static inline void merge(struct engine *engine)
{
	run_merge(engine, ENGINE_MERGE_ALL);
}

static inline struct engine_result search_view(struct arena *arena, const struct engine_view *view,
                                               const char *text, size_t limit)
{
	struct engine_query query = {.text = text, .length = strlen(text), .limit = limit};
	return engine_search(view, &query, arena);
}
