/** Embedders for the tests of the search engine. */
#pragma once

#include "base/base.h"
#include "engine/engine.h"
#include "engine/text/mem.h"
#include "engine/vector/training.h"

/** The sample of all documents of `segment`, in the order of their numbers. The caller frees it. */
static inline struct sample *sample_of_segment(const struct segment *segment)
{
	struct sample *sample = sample_new(segment->doc_count, segment->doc_count);
	mem_auto_free uint32_t *map = mem_array(segment->term_count, sizeof(uint32_t));
	for (uint32_t doc = 0; doc < segment->doc_count; doc++)
		sample_add(sample, segment, map, doc);
	sample_finish(sample);
	return sample;
}

/** An embedder trained on `segment`; NULL when it is too small. The caller frees it. */
static inline struct embedder *train_on_segment(const struct segment *segment)
{
	struct sample *sample = sample_of_segment(segment);
	struct embedder *embedder = training_run(sample, NULL);
	sample_free(sample);
	return embedder;
}

/** An embedder trained on the present papers of `engine`; as above. */
static inline struct embedder *train_on_engine(struct engine *engine)
{
	struct engine_view *view = engine_view_get(engine);
	struct sample *sample = engine_sample(view);
	struct embedder *embedder = training_run(sample, NULL);
	sample_free(sample);
	engine_view_put(view);
	return embedder;
}

/** Let `engine` adopt `embedder`, which it takes. */
static inline void adopt(struct engine *engine, struct embedder *embedder)
{
	struct engine_adoption *adoption = engine_adoption_new(engine, embedder);
	require(engine_adoption_run(adoption, NULL));
	engine_adoption_commit(engine, adoption);
}

/** Train on the papers of `engine` and adopt the result, if there is one. */
static inline void train(struct engine *engine)
{
	struct embedder *embedder = train_on_engine(engine);
	if (embedder)
		adopt(engine, embedder);
}
