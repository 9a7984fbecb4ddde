/** Generated papers in an engine, with or without an embedder that is trained on them. */
#pragma once

#include "corpus.h"
#include "engine_fixture.h"
#include "trained.h"

/** Vocabulary of the generated papers. */
#define GENERATED_WORDS 300

/** Add `count` papers as one batch of changes. */
static inline void fill_generated(struct engine *engine, uint32_t count)
{
	struct arena *arena = arena_new();
	struct random_source noise = {101};
	struct engine_change *changes = arena_array(arena, count, sizeof(*changes));
	for (uint32_t i = 0; i < count; i++)
		changes[i].document = sample_document(arena, &noise, i, GENERATED_WORDS);
	engine_apply(engine, changes, count, count);
	merge(engine);
	arena_free(arena);
}

/** The same, and train the embedder on them. */
static inline void load_generated(struct engine *engine, uint32_t count)
{
	fill_generated(engine, count);
	train(engine);
}
