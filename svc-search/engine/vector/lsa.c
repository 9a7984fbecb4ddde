#include "engine/vector/lsa.h"

#include "engine/lexical/bm25.h"
#include "engine/text/cancel.h"
#include "engine/text/mem.h"
#include "engine/vector/linalg.h"
#include "engine/vector/simd.h"

#include <math.h>

/* Additional directions that are computed for accuracy and then dropped. */
#define OVERSAMPLING 10

/* Subspace iterations; more of them improve the weaker directions. */
#define ITERATIONS 4

/* A direction below this fraction of the strongest one is noise. */
#define MIN_STRENGTH 1e-5

/* The corpus as a sparse matrix (CSR). */
struct corpus {
	uint32_t vocabulary; /* columns: the terms of the sample */
	uint32_t row_count;
	size_t *starts; /* row_count + 1 */
	uint32_t *terms;
	float *weights;
	float *idfs;               /* by term */
	const atomic_bool *cancel; /* may be NULL */
};

/* Weight the term frequencies of a row and scale it to length 1. */
static void finish_row(struct corpus *corpus, size_t start, size_t end, float *frequencies)
{
	for (size_t i = start; i < end; i++) {
		uint32_t term = corpus->terms[i];
		corpus->weights[i] = (1.0f + logf(frequencies[term])) * corpus->idfs[term];
		frequencies[term] = 0;
	}
	float length =
		sqrtf(simd_dot(corpus->weights + start, corpus->weights + start, end - start));
	for (size_t i = start; i < end; i++)
		corpus->weights[i] /= length;
}

/* Append the row of one paper. `frequencies` is scratch by term, zero before and after. */
static void add_row(struct corpus *corpus, const struct sample *sample, uint32_t doc,
                    float *frequencies)
{
	const uint32_t *tokens = sample->tokens + sample->starts[doc];
	size_t count = sample->starts[doc + 1] - sample->starts[doc];
	size_t start = corpus->starts[corpus->row_count];
	size_t end = start;
	for (size_t i = 0; i < count; i++) {
		if (!(frequencies[tokens[i]] > 0))
			corpus->terms[end++] = tokens[i];
		frequencies[tokens[i]] += (float)sample_weight(sample, doc, i);
	}
	finish_row(corpus, start, end, frequencies);
	corpus->starts[++corpus->row_count] = end;
}

/* How many different terms each paper has, in all. */
static size_t count_entries(const struct sample *sample)
{
	mem_auto_free uint32_t *seen = mem_array(sample->term_count, sizeof(uint32_t));
	size_t entries = 0;
	for (uint32_t doc = 0; doc < sample->doc_count; doc++) {
		for (size_t i = sample->starts[doc]; i < sample->starts[doc + 1]; i++) {
			entries += seen[sample->tokens[i]] != doc + 1;
			seen[sample->tokens[i]] = doc + 1;
		}
	}
	return entries;
}

static struct corpus corpus_read(const struct sample *sample)
{
	size_t entries = count_entries(sample);
	struct corpus corpus = {.vocabulary = sample->term_count};
	mem_auto_free float *frequencies = mem_array(corpus.vocabulary, sizeof(float));
	corpus.starts = mem_array(sample->doc_count + (size_t)1, sizeof(size_t));
	corpus.terms = mem_array(entries, sizeof(uint32_t));
	corpus.weights = mem_array(entries, sizeof(float));
	corpus.idfs = mem_array(corpus.vocabulary, sizeof(float));
	for (uint32_t i = 0; i < corpus.vocabulary; i++)
		corpus.idfs[i] = bm25_idf(sample->df[i], sample->doc_count);
	for (uint32_t doc = 0; doc < sample->doc_count; doc++)
		add_row(&corpus, sample, doc, frequencies);
	return corpus;
}

static void corpus_done(struct corpus *corpus)
{
	free(corpus->starts);
	free(corpus->terms);
	free(corpus->weights);
	free(corpus->idfs);
}

/* out = the row x basis (vocabulary x width). */
static void project_row(const struct corpus *corpus, uint32_t row, const float *basis, size_t width,
                        float *out)
{
	memset(out, 0, width * sizeof(float));
	for (size_t i = corpus->starts[row]; i < corpus->starts[row + 1]; i++)
		simd_add_scaled(out, corpus->weights[i], basis + corpus->terms[i] * width, width);
}

/* basis = corpus' x corpus x basis, orthonormal. `next` is scratch of the same size. */
static void iterate_subspace(const struct corpus *corpus, float **basis, float **next, size_t width)
{
	mem_auto_free float *projected = mem_array(width, sizeof(float));
	float *kept = *basis;
	memset(*next, 0, corpus->vocabulary * width * sizeof(float));
	for (uint32_t row = 0; row < corpus->row_count && !is_cancelled(corpus->cancel); row++) {
		project_row(corpus, row, *basis, width, projected);
		for (size_t i = corpus->starts[row]; i < corpus->starts[row + 1]; i++)
			simd_add_scaled(*next + corpus->terms[i] * width, corpus->weights[i],
			                projected, width);
	}
	linalg_orthonormalise(*next, corpus->vocabulary, width);
	*basis = *next;
	*next = kept;
}

/* Uniform pseudorandom values in -1 to 1 (xorshift64*, Vigna 2016). */
static void fill_noise(float *values, size_t count)
{
	uint64_t state = UINT64_C(0x9E3779B97F4A7C15);
	for (size_t i = 0; i < count; i++) {
		state ^= state >> 12;
		state ^= state << 25;
		state ^= state >> 27;
		values[i] = (float)((double)(state * UINT64_C(0x2545F4914F6CDD1D) >> 11) /
		                            (double)(UINT64_C(1) << 52) -
		                    1.0);
	}
}

/* out += basis' x corpus' x corpus x basis: the products of the projected directions. */
static void measure_strengths(const struct corpus *corpus, const float *basis, size_t width,
                              double *out)
{
	mem_auto_free float *projected = mem_array(width, sizeof(float));
	mem_auto_free float *sums = mem_array(width * width, sizeof(float));
	for (uint32_t row = 0; row < corpus->row_count && !is_cancelled(corpus->cancel); row++) {
		project_row(corpus, row, basis, width, projected);
		for (size_t i = 0; i < width; i++)
			simd_add_scaled(sums + i * width, projected[i], projected, i + 1);
		if (row % 256 != 255 && row + 1 != corpus->row_count)
			continue;
		for (size_t i = 0; i < width * width; i++)
			out[i] += sums[i];
		memset(sums, 0, width * width * sizeof(float));
	}
	for (size_t i = 0; i < width; i++)
		for (size_t j = i + 1; j < width; j++)
			out[i * width + j] = out[j * width + i];
}

/* How the strength of a direction counts: its singular value, relative to the greatest, to this
 * power. Chosen on cranfield, cisi, cacm and lisa. */
#define STRENGTH_POWER 0.25

/* Rotate the basis to the singular vectors, each scaled by its strength. Returns how many of the
 * first `dimension` are not noise. */
static size_t rotate_to_singular(const struct corpus *corpus, float *basis, size_t width,
                                 size_t dimension)
{
	mem_auto_free double *products = mem_array(width * width, sizeof(double));
	mem_auto_free double *vectors = mem_array(width * width, sizeof(double));
	mem_auto_free double *values =
		mem_array(width, sizeof(double)); /* squared singular values */
	mem_auto_free float *rotation = mem_array(width * width, sizeof(float));
	mem_auto_free float *row = mem_array(width, sizeof(float));
	size_t kept = 0;
	measure_strengths(corpus, basis, width, products);
	linalg_eigen(products, width, values, vectors);
	while (kept < dimension && values[kept] > MIN_STRENGTH * values[0] && values[kept] > 1e-9)
		kept++;
	for (size_t i = 0; i < kept; i++) {
		double strength = pow(values[i] / values[0], STRENGTH_POWER / 2);
		for (size_t j = 0; j < width; j++)
			rotation[j * kept + i] = (float)(vectors[i * width + j] * strength);
	}
	for (size_t term = 0; term < corpus->vocabulary; term++) {
		memset(row, 0, width * sizeof(float));
		for (size_t j = 0; j < width; j++)
			simd_add_scaled(row, basis[term * width + j], rotation + j * kept, kept);
		memcpy(basis + term * width, row, width * sizeof(float));
	}
	return kept;
}

/* Dimension for a corpus of this size: at most a third of its documents and of its vocabulary. */
static size_t dimension_for(const struct corpus *corpus)
{
	size_t limit = MIN_OF(corpus->row_count / 3, corpus->vocabulary / 3);
	return MIN_OF((size_t)LSA_DIMENSION, limit);
}

/* The rows of the terms: idf times the first `dimension` elements of the basis. */
static struct term_vectors weigh_terms(const struct corpus *corpus, const float *basis,
                                       size_t width, size_t dimension)
{
	struct term_vectors vectors = {.count = corpus->vocabulary,
	                               .dimension = (uint32_t)dimension};
	vectors.rows = mem_array(corpus->vocabulary * dimension, sizeof(float));
	for (size_t term = 0; term < corpus->vocabulary; term++)
		simd_add_scaled(vectors.rows + term * dimension, corpus->idfs[term],
		                basis + term * width, dimension);
	return vectors;
}

bool lsa_train(const struct sample *sample, const atomic_bool *cancel,
               struct term_vectors *ret_vectors)
{
	struct corpus corpus = corpus_read(sample);
	corpus.cancel = cancel;
	size_t dimension = dimension_for(&corpus);
	size_t width = dimension + OVERSAMPLING;
	float *basis = mem_array(corpus.vocabulary * width, sizeof(float));
	float *next = mem_array(corpus.vocabulary * width, sizeof(float));
	fill_noise(basis, corpus.vocabulary * width);
	for (int i = 0; i < ITERATIONS && dimension > 0 && !is_cancelled(cancel); i++)
		iterate_subspace(&corpus, &basis, &next, width);
	if (dimension > 0 && !is_cancelled(cancel))
		dimension = rotate_to_singular(&corpus, basis, width, dimension);
	free(next);
	bool is_trained = dimension > 0 && !is_cancelled(cancel);
	if (is_trained)
		*ret_vectors = weigh_terms(&corpus, basis, width, dimension);
	free(basis);
	corpus_done(&corpus);
	return is_trained;
}
