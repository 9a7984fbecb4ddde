#include "engine/vector/training.h"

#include "base/crypto.h"
#include "engine/text/cancel.h"
#include "engine/text/mem.h"
#include "engine/vector/ivf.h"
#include "engine/vector/lsa.h"
#include "engine/vector/vectors.h"

/* Increase it whenever the same sample gives another embedder. */
#define TRAINING_RECIPE 1

/* The number of lists that is right for a corpus of this size; it changes only when the corpus doubles. */
static uint32_t list_count(const struct sample *sample)
{
	uint32_t lists = 1;
	if (sample->corpus_count < IVF_MIN_VECTORS)
		return 0;
	while ((uint64_t)lists * lists < sample->corpus_count)
		lists *= 2;
	return MIN_OF(lists, sample->doc_count);
}

static struct embedder *add_centroids(struct embedder *embedder, const struct sample *sample,
                                      uint32_t lists, const atomic_bool *cancel)
{
	struct vectors *vectors = vectors_of_sample(embedder, sample, cancel);
	struct centroids *centroids = centroids_learn(vectors, lists, cancel);
	embedder = embedder_with_centroids(embedder, centroids);
	centroids_free(centroids);
	vectors_free(vectors);
	return embedder;
}

struct embedder *training_run(const struct sample *sample, const atomic_bool *cancel)
{
	uint32_t lists = list_count(sample);
	if (sample->doc_count < TRAINING_MIN_DOCS)
		return NULL;
	struct embedder *embedder = lsa_train(sample, cancel);
	if (embedder && lists > 0)
		embedder = add_centroids(embedder, sample, lists, cancel);
	if (!is_cancelled(cancel))
		return embedder;
	embedder_free(embedder);
	return NULL;
}

void training_fingerprint(const struct sample *sample, uint8_t out[SAMPLE_FINGERPRINT_BYTES])
{
	struct {
		uint32_t recipe;
		uint32_t lists;
		uint8_t sample[SAMPLE_FINGERPRINT_BYTES];
	} input = {TRAINING_RECIPE, list_count(sample), {0}};
	sample_fingerprint(sample, input.sample);
	sha256(&input, sizeof(input), out);
}
