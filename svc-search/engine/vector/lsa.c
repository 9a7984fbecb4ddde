#include "engine/vector/lsa.h"

#include "engine/lexical/bm25.h"
#include "engine/text/cancel.h"
#include "engine/text/intern.h"
#include "engine/text/mem.h"
#include "engine/vector/linalg.h"
#include "engine/vector/simd.h"
#include "engine/vector/vectors.h"

#include <math.h>

/* Additional directions that are computed for accuracy and then dropped. */
#define OVERSAMPLING 10

/* Subspace iterations; more of them improve the weaker directions. */
#define ITERATIONS 4

/* A direction below this fraction of the strongest one is noise. */
#define MIN_STRENGTH 1e-5

/* The corpus as a sparse matrix (CSR). */
struct corpus {
	uint32_t
		vocabulary; /* columns: the first terms of the segment, which are the most frequent */
	uint32_t row_count;
	size_t *starts; /* row_count + 1 */
	uint32_t *terms;
	float *weights;
	float *idfs;               /* by term */
	const atomic_bool *cancel; /* may be NULL */
};

/* Number of terms to use: the most frequent that occur in at least two documents. Segments number
 * terms by descending document frequency. */
static uint32_t vocabulary_of(const struct segment *segment)
{
	uint32_t count = MIN_OF(segment->term_count, (uint32_t)EMBEDDER_MAX_TERMS);
	while (count > 0 && segment->terms[count - 1].df < 2)
		count--;
	return count;
}

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

/* Append the row of one document. `frequencies` is scratch by term, zero before and after. */
static void add_row(struct corpus *corpus, const struct segment *segment, uint32_t doc,
                    float *frequencies)
{
	struct forward forward = segment_forward(segment, doc);
	uint32_t count = forward.title_count + forward.abstract_count;
	size_t start = corpus->starts[corpus->row_count];
	size_t end = start;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t term = forward_next(&forward);
		if (term >= corpus->vocabulary)
			continue;
		if (!(frequencies[term] > 0))
			corpus->terms[end++] = term;
		frequencies[term] += (float)forward_weight(&forward, i);
	}
	finish_row(corpus, start, end, frequencies);
	corpus->starts[++corpus->row_count] = end;
}

/* An upper bound of the entries of `rows` documents, `step` apart. */
static size_t count_entries(const struct segment *segment, double step, uint32_t rows)
{
	size_t entries = 0;
	for (uint32_t row = 0; row < rows; row++) {
		struct forward forward = segment_forward(segment, (uint32_t)(row * step));
		entries += forward.title_count + forward.abstract_count;
	}
	return entries;
}

static struct corpus corpus_read(const struct segment *segment)
{
	uint32_t rows = MIN_OF(segment->doc_count, (uint32_t)LSA_MAX_DOCS);
	double step = (double)segment->doc_count / rows;
	size_t entries = count_entries(segment, step, rows);
	struct corpus corpus = {.vocabulary = vocabulary_of(segment)};
	mem_auto_free float *frequencies = mem_array(corpus.vocabulary, sizeof(float));
	corpus.starts = mem_array(rows + (size_t)1, sizeof(size_t));
	corpus.terms = mem_array(entries, sizeof(uint32_t));
	corpus.weights = mem_array(entries, sizeof(float));
	corpus.idfs = mem_array(corpus.vocabulary, sizeof(float));
	for (uint32_t i = 0; i < corpus.vocabulary; i++)
		corpus.idfs[i] = bm25_idf(segment->terms[i].df, segment->doc_count);
	for (uint32_t row = 0; row < rows; row++)
		add_row(&corpus, segment, (uint32_t)(row * step), frequencies);
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

/* Rotate the basis to the singular vectors. Returns how many of the first `dimension` are not noise. */
static size_t rotate_to_singular(const struct corpus *corpus, float *basis, size_t width,
                                 size_t dimension)
{
	mem_auto_free double *products = mem_array(width * width, sizeof(double));
	mem_auto_free double *vectors = mem_array(width * width, sizeof(double));
	mem_auto_free double *values = mem_array(width, sizeof(double));
	mem_auto_free float *rotation = mem_array(width * width, sizeof(float));
	mem_auto_free float *row = mem_array(width, sizeof(float));
	size_t kept = 0;
	measure_strengths(corpus, basis, width, products);
	linalg_eigen(products, width, values, vectors);
	while (kept < dimension && values[kept] > MIN_STRENGTH * values[0] && values[kept] > 1e-9)
		kept++;
	for (size_t i = 0; i < kept; i++)
		for (size_t j = 0; j < width; j++)
			rotation[j * kept + i] = (float)vectors[i * width + j];
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

static void write_strings(const struct segment *segment, uint32_t count, uint32_t *offsets,
                          uint32_t *slots, uint32_t slot_count, char *strings)
{
	size_t length = 0;
	for (uint32_t i = 0; i < count; i++) {
		const char *text = segment_term_text(segment, i);
		size_t size = strlen(text) + 1;
		size_t at = intern_hash(text, size - 1) & (slot_count - 1);
		while (slots[at] != 0)
			at = (at + 1) & (slot_count - 1);
		slots[at] = i + 1;
		offsets[i] = (uint32_t)length;
		memcpy(strings + length, text, size);
		length += size;
	}
}

static uint32_t strings_length(const struct segment *segment, uint32_t count)
{
	size_t length = 1;
	for (uint32_t i = 0; i < count; i++)
		length += strlen(segment_term_text(segment, i)) + 1;
	return (uint32_t)length;
}

static struct embedder *write_embedder(const struct segment *segment, const struct corpus *corpus,
                                       const float *basis, size_t width, size_t dimension)
{
	uint32_t count = corpus->vocabulary;
	struct embedder_header header = {.magic = EMBEDDER_MAGIC,
	                                 .dimension = (uint32_t)dimension,
	                                 .stride = (uint32_t)simd_padded(dimension),
	                                 .term_count = count,
	                                 .slot_count = 16,
	                                 .trained_on = segment->doc_count,
	                                 .strings_length = strings_length(segment, count)};
	while (header.slot_count < count * 2)
		header.slot_count *= 2;
	header.length = sizeof(header) + (uint64_t)count * (header.stride + 3 * sizeof(uint32_t)) +
	                header.slot_count * sizeof(uint32_t) + header.strings_length;
	char *blob = mem_array(header.length, 1);
	memcpy(blob, &header, sizeof(header));
	float *scales = (float *)(blob + sizeof(header) + (size_t)count * header.stride);
	uint32_t *offsets = (uint32_t *)(scales + 2 * (size_t)count);
	for (size_t i = 0; i < count; i++)
		vectors_quantise(basis + i * width, dimension,
		                 (int8_t *)blob + sizeof(header) + i * header.stride, &scales[i]);
	memcpy(scales + count, corpus->idfs, count * sizeof(float));
	write_strings(segment, count, offsets, offsets + count, header.slot_count,
	              (char *)(offsets + count + header.slot_count));
	struct embedder *embedder = embedder_open(blob, header.length, true);
	require(embedder);
	return embedder;
}

struct embedder *lsa_train(const struct segment *segment, const atomic_bool *cancel)
{
	struct embedder *embedder = NULL;
	if (segment->doc_count < LSA_MIN_DOCS)
		return NULL;
	struct corpus corpus = corpus_read(segment);
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
	if (dimension > 0 && !is_cancelled(cancel))
		embedder = write_embedder(segment, &corpus, basis, width, dimension);
	free(basis);
	free(next);
	corpus_done(&corpus);
	return embedder;
}
