#include "engine/vector/contrastive.h"

#include "engine/text/cancel.h"
#include "engine/text/mem.h"
#include "engine/vector/pairs.h"
#include "engine/vector/simd.h"

#include <math.h>

/* Pairs of a batch. */
#define BATCH 256

/* Of the softmax. */
#define TEMPERATURE 0.2f

/* The step in the first batch, relative to the root mean square of the elements of all vectors. */
#define RATE 1.0f

/* A paper is drawn from about PAPERS_SEEN / (number of papers) times, within these bounds. */
#define PAPERS_SEEN 200000
#define MIN_EPOCHS  5
#define MAX_EPOCHS  20

/* The number that pair_random_for() shuffles by: no paper has it. */
#define SHUFFLE_NUMBER UINT32_MAX

/* A term in one of the texts of a batch. */
struct occurrence {
	uint32_t next; /* number + 1 of another occurrence of the term; 0: none */
	uint32_t text;
	float weight;
};

/* Working memory. Text i is the first side of pair i, text BATCH + i the second. */
struct batch {
	struct contrastive_state *state;
	const struct sample *sample;
	struct parallel *parallel;
	float rate;
	const uint32_t *docs; /* papers to draw from */
	size_t doc_count;     /* at most BATCH */
	struct pair *pairs;   /* by number in `docs` */
	bool is_drawn[BATCH];
	uint32_t drawn[BATCH]; /* numbers of the pairs that were drawn */
	size_t count;          /* pairs */
	float *texts;          /* unit vectors; zero: of length 0 */
	float lengths[2 * BATCH];
	float *gradients;  /* by text: of the loss, by its sum of term vectors */
	float *scores;     /* count x BATCH: the exponentials of S, then D */
	float *transposed; /* the same, transposed */
	float row_sums[BATCH];
	float column_sums[BATCH];
	struct occurrence *occurrences;
	uint32_t *heads; /* by term: number + 1 of an occurrence; 0: none */
	uint32_t *terms; /* that occur */
	size_t term_count;
};

struct contrastive_state contrastive_begin(struct term_vectors vectors)
{
	size_t elements = (size_t)vectors.count * vectors.dimension;
	double squares = 0;
	for (size_t i = 0; i < elements; i++)
		squares += (double)vectors.rows[i] * (double)vectors.rows[i];
	float scale = squares > 0 ? (float)(1 / sqrt(squares / (double)elements)) : 0;
	for (size_t i = 0; i < elements; i++)
		vectors.rows[i] *= scale;
	return (struct contrastive_state){.vectors = vectors,
	                                  .squares = mem_array(vectors.count, sizeof(float))};
}

void contrastive_end(struct contrastive_state *state)
{
	free(state->vectors.rows);
	free(state->squares);
}

uint32_t contrastive_epochs(const struct sample *sample)
{
	uint32_t epochs = PAPERS_SEEN / MAX_OF(sample->doc_count, 1u);
	return MIN_OF(MAX_OF(epochs, (uint32_t)MIN_EPOCHS), (uint32_t)MAX_EPOCHS);
}

static struct batch *batch_new(struct contrastive_state *state, const struct sample *sample,
                               struct parallel *parallel)
{
	size_t dimension = state->vectors.dimension;
	struct batch *batch = mem_array(1, sizeof(*batch));
	batch->state = state;
	batch->sample = sample;
	batch->parallel = parallel;
	batch->pairs = mem_array(BATCH, sizeof(*batch->pairs));
	batch->texts = mem_array(2 * BATCH * dimension, sizeof(float));
	batch->gradients = mem_array(2 * BATCH * dimension, sizeof(float));
	batch->scores = mem_array((size_t)BATCH * BATCH, sizeof(float));
	batch->transposed = mem_array((size_t)BATCH * BATCH, sizeof(float));
	batch->occurrences =
		mem_array((size_t)BATCH * SAMPLE_DOC_TOKENS, sizeof(*batch->occurrences));
	batch->heads = mem_array(sample->term_count, sizeof(uint32_t));
	batch->terms = mem_array(sample->term_count, sizeof(uint32_t));
	return batch;
}

static void batch_free(struct batch *batch)
{
	free(batch->pairs);
	free(batch->texts);
	free(batch->gradients);
	free(batch->scores);
	free(batch->transposed);
	free(batch->occurrences);
	free(batch->heads);
	free(batch->terms);
	free(batch);
}

static void draw_pairs(size_t first, size_t end, void *ctx)
{
	struct batch *batch = ctx;
	mem_auto_free uint16_t *counts = mem_array(batch->sample->term_count, sizeof(uint16_t));
	for (size_t i = first; i < end; i++)
		batch->is_drawn[i] = pair_draw(batch->sample, batch->docs[i], batch->state->epochs,
		                               counts, &batch->pairs[i]);
}

/* List the pairs that were drawn, and the occurrences of each of their terms. */
static void list_occurrences(struct batch *batch)
{
	uint32_t used = 0;
	batch->count = 0;
	batch->term_count = 0;
	for (uint32_t number = 0; number < batch->doc_count; number++) {
		const struct pair *pair = &batch->pairs[number];
		if (!batch->is_drawn[number])
			continue;
		for (size_t i = 0; i < pair->counts[0] + pair->counts[1]; i++) {
			uint32_t *head = &batch->heads[pair->terms[i].term];
			bool is_second = i >= pair->counts[0];
			if (*head == 0)
				batch->terms[batch->term_count++] = pair->terms[i].term;
			batch->occurrences[used] =
				(struct occurrence){*head,
			                            (uint32_t)batch->count + is_second * BATCH,
			                            pair->terms[i].weight};
			*head = ++used;
		}
		batch->drawn[batch->count++] = number;
	}
}

static float *text_vector(float *rows, const struct batch *batch, size_t text)
{
	return rows + text * batch->state->vectors.dimension;
}

static void embed_text(struct batch *batch, size_t text, const struct weighted_term *terms,
                       size_t count)
{
	const struct term_vectors *vectors = &batch->state->vectors;
	size_t dimension = vectors->dimension;
	float *sum = text_vector(batch->texts, batch, text);
	memset(sum, 0, dimension * sizeof(float));
	for (size_t i = 0; i < count; i++)
		simd_add_scaled(sum, terms[i].weight, vectors->rows + terms[i].term * dimension,
		                dimension);
	float length = sqrtf(simd_dot(sum, sum, dimension));
	batch->lengths[text] = length;
	for (size_t d = 0; d < dimension; d++)
		sum[d] = length > 0 ? sum[d] / length : 0;
}

static void embed_pairs(size_t first, size_t end, void *ctx)
{
	struct batch *batch = ctx;
	for (size_t i = first; i < end; i++) {
		const struct pair *pair = &batch->pairs[batch->drawn[i]];
		embed_text(batch, i, pair->terms, pair->counts[0]);
		embed_text(batch, BATCH + i, pair->terms + pair->counts[0], pair->counts[1]);
	}
}

/* The exponentials of S, and their sums over the rows. No cosine is so great that they overflow. */
static void score_rows(size_t first, size_t end, void *ctx)
{
	struct batch *batch = ctx;
	size_t dimension = batch->state->vectors.dimension;
	for (size_t i = first; i < end; i++) {
		const float *a = text_vector(batch->texts, batch, i);
		float *row = batch->scores + i * BATCH;
		float sum = 0;
		for (size_t j = 0; j < batch->count; j++)
			row[j] =
				simd_dot(a, text_vector(batch->texts, batch, BATCH + j), dimension);
		for (size_t j = 0; j < batch->count; j++)
			sum += row[j] = expf(row[j] / TEMPERATURE);
		batch->row_sums[i] = sum;
	}
}

static void sum_columns(size_t first, size_t end, void *ctx)
{
	struct batch *batch = ctx;
	memset(batch->column_sums + first, 0, (end - first) * sizeof(float));
	for (size_t i = 0; i < batch->count; i++)
		for (size_t j = first; j < end; j++)
			batch->column_sums[j] += batch->scores[i * BATCH + j];
}

/* D, in rows and transposed. */
static void derive_scores(size_t first, size_t end, void *ctx)
{
	struct batch *batch = ctx;
	for (size_t i = first; i < end; i++) {
		for (size_t j = 0; j < batch->count; j++) {
			float *score = &batch->scores[i * BATCH + j];
			float p = *score / batch->row_sums[i];
			float q = *score / batch->column_sums[j];
			*score = (p + q - (i == j ? 2.0f : 0.0f)) / (2 * TEMPERATURE);
			batch->transposed[j * BATCH + i] = *score;
		}
	}
}

/* The gradient by the sum of a text's term vectors: (g - a (a . g)) / |h|, where g is that by its
 * unit vector, `factors` times the unit vectors of the other side. */
static void derive_text(struct batch *batch, size_t text, const float *factors, size_t others)
{
	size_t dimension = batch->state->vectors.dimension;
	const float *a = text_vector(batch->texts, batch, text);
	float *gradient = text_vector(batch->gradients, batch, text);
	memset(gradient, 0, dimension * sizeof(float));
	if (!(batch->lengths[text] > 0))
		return;
	for (size_t j = 0; j < batch->count; j++)
		simd_add_scaled(gradient, factors[j], text_vector(batch->texts, batch, others + j),
		                dimension);
	simd_add_scaled(gradient, -simd_dot(a, gradient, dimension), a, dimension);
	for (size_t d = 0; d < dimension; d++)
		gradient[d] /= batch->lengths[text];
}

static void derive_texts(size_t first, size_t end, void *ctx)
{
	struct batch *batch = ctx;
	for (size_t i = first; i < end; i++) {
		derive_text(batch, i, batch->scores + i * BATCH, BATCH);
		derive_text(batch, BATCH + i, batch->transposed + i * BATCH, 0);
	}
}

/* Move the vectors of terms against their gradients. */
static void update_terms(size_t first, size_t end, void *ctx)
{
	struct batch *batch = ctx;
	struct contrastive_state *state = batch->state;
	size_t dimension = state->vectors.dimension;
	mem_auto_free float *gradient = mem_array(dimension, sizeof(float));
	for (size_t i = first; i < end; i++) {
		uint32_t term = batch->terms[i];
		memset(gradient, 0, dimension * sizeof(float));
		for (uint32_t at = batch->heads[term]; at != 0;
		     at = batch->occurrences[at - 1].next) {
			const struct occurrence *occurrence = &batch->occurrences[at - 1];
			simd_add_scaled(gradient, occurrence->weight,
			                text_vector(batch->gradients, batch, occurrence->text),
			                dimension);
		}
		batch->heads[term] = 0;
		state->squares[term] += simd_dot(gradient, gradient, dimension) / (float)dimension;
		simd_add_scaled(state->vectors.rows + term * dimension,
		                -batch->rate / (sqrtf(state->squares[term]) + 1e-6f), gradient,
		                dimension);
	}
}

static void train_batch(struct batch *batch)
{
	parallel_run(batch->parallel, batch->doc_count, draw_pairs, batch);
	list_occurrences(batch);
	parallel_run(batch->parallel, batch->count, embed_pairs, batch);
	parallel_run(batch->parallel, batch->count, score_rows, batch);
	parallel_run(batch->parallel, batch->count, sum_columns, batch);
	parallel_run(batch->parallel, batch->count, derive_scores, batch);
	parallel_run(batch->parallel, batch->count, derive_texts, batch);
	parallel_run(batch->parallel, batch->term_count, update_terms, batch);
}

/* The papers in the order of this epoch. The caller frees it. */
static uint32_t *shuffle(uint32_t count, uint32_t epoch)
{
	struct pair_random random = pair_random_for(epoch, SHUFFLE_NUMBER);
	uint32_t *order = mem_array(count, sizeof(*order));
	for (uint32_t i = 0; i < count; i++) {
		uint32_t other = pair_random_below(&random, i + 1);
		order[i] = order[other];
		order[other] = i;
	}
	return order;
}

bool contrastive_epoch(struct contrastive_state *state, const struct sample *sample,
                       struct parallel *parallel, const atomic_bool *cancel)
{
	size_t batches = (sample->doc_count + BATCH - 1) / BATCH;
	double total = (double)batches * contrastive_epochs(sample);
	mem_auto_free uint32_t *order = shuffle(sample->doc_count, state->epochs);
	struct batch *batch = batch_new(state, sample, parallel);
	for (size_t i = 0; i < batches && !is_cancelled(cancel); i++) {
		size_t first = sample->doc_count * i / batches;
		double done = (double)state->epochs * (double)batches + (double)i;
		batch->docs = order + first;
		batch->doc_count = sample->doc_count * (i + 1) / batches - first;
		batch->rate = RATE * (float)(1 - done / total);
		train_batch(batch);
	}
	batch_free(batch);
	state->epochs++;
	return !is_cancelled(cancel);
}
