#include "engine/vector/training.h"

#include "crypto/crypto.h"
#include "engine/text/cancel.h"
#include "engine/text/mem.h"
#include "engine/vector/checkpoint.h"
#include "engine/vector/contrastive.h"
#include "engine/vector/embedder_draft.h"
#include "engine/vector/ivf.h"
#include "engine/vector/lsa.h"
#include "engine/vector/vectors.h"

/* Names it in versions. */
#define METHOD "infonce"

/* The number of lists that is right for a corpus of this size; it changes only when the corpus
 * doubles. */
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

/* The state to go on from: that of the checkpoint, or the result of the analysis. Returns false
 * when there is neither. */
static bool initial_state(const struct sample *sample, const struct training_options *options,
                          const uint8_t *fingerprint, struct contrastive_state *state)
{
	const char *path = options->checkpoint;
	struct term_vectors vectors;
	if (path && checkpoint_load(path, fingerprint, sample->term_count, state))
		return true;
	if (!lsa_train(sample, options->cancel, &vectors))
		return false;
	*state = contrastive_begin(vectors);
	if (path)
		checkpoint_save(path, fingerprint, state);
	return true;
}

/* Train the epochs that are left. */
static void train_epochs(struct contrastive_state *state, const struct sample *sample,
                         const struct training_options *options, const uint8_t *fingerprint)
{
	struct parallel *parallel = parallel_new(MAX_OF(options->threads, 1));
	uint32_t epochs = contrastive_epochs(sample);
	while (state->epochs < epochs &&
	       contrastive_epoch(state, sample, parallel, options->cancel))
		if (options->checkpoint)
			checkpoint_save(options->checkpoint, fingerprint, state);
	parallel_free(parallel);
}

/* The length of a term's vector is its weight. */
static struct embedder *write_embedder(const struct sample *sample,
                                       const struct term_vectors *vectors)
{
	struct embedder_draft draft;
	embedder_draft_begin(&draft, sample, METHOD, vectors->dimension);
	for (size_t i = 0; i < vectors->count; i++) {
		vectors_quantise(vectors->rows + i * vectors->dimension, vectors->dimension,
		                 draft.rows + i * draft.stride, &draft.scales[i]);
		draft.weights[i] = 1;
	}
	return embedder_draft_end(&draft);
}

struct embedder *training_run(const struct sample *sample, const struct training_options *options)
{
	static const struct training_options none;
	uint32_t lists = list_count(sample);
	uint8_t fingerprint[SAMPLE_FINGERPRINT_BYTES];
	struct contrastive_state state;
	options = options ? options : &none;
	training_fingerprint(sample, fingerprint);
	if (sample->doc_count < TRAINING_MIN_DOCS ||
	    !initial_state(sample, options, fingerprint, &state))
		return NULL;
	train_epochs(&state, sample, options, fingerprint);
	struct embedder *embedder = write_embedder(sample, &state.vectors);
	contrastive_end(&state);
	if (lists > 0 && !is_cancelled(options->cancel))
		embedder = add_centroids(embedder, sample, lists, options->cancel);
	if (!is_cancelled(options->cancel))
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
