#include "engine/vector/embedder.h"

#include "crypto/crypto.h"
#include "engine/text/intern.h"
#include "engine/text/mem.h"
#include "engine/vector/simd.h"

#include <math.h>
#include <stdio.h>

/* Bytes of the digest that are in a version. */
#define VERSION_DIGEST_BYTES 8

static bool is_header_valid(const struct embedder_header *header, size_t length)
{
	uint64_t needed = sizeof(*header);
	if (length < sizeof(*header) || header->magic != EMBEDDER_MAGIC ||
	    header->length != length || header->dimension == 0 ||
	    header->stride != simd_padded(header->dimension) || header->slot_count == 0 ||
	    (header->slot_count & (header->slot_count - 1)) != 0 ||
	    header->slot_count <= header->term_count || header->strings_length % 4 != 0 ||
	    !memchr(header->method, '\0', sizeof(header->method)))
		return false;
	needed += (uint64_t)header->term_count * (header->stride + 3 * sizeof(uint32_t));
	needed += (uint64_t)header->slot_count * sizeof(uint32_t) + header->strings_length;
	needed += (uint64_t)header->list_count * (header->stride + sizeof(float));
	return needed == length && header->strings_length > 0;
}

static bool is_content_valid(const struct embedder *embedder)
{
	const struct embedder_header *header = embedder->header;
	if (embedder->strings[header->strings_length - 1] != '\0')
		return false;
	for (uint32_t i = 0; i < header->term_count; i++)
		if (embedder->offsets[i] >= header->strings_length)
			return false;
	bool has_free_slot = false; /* where a lookup ends */
	for (uint32_t i = 0; i < header->slot_count; i++) {
		if (embedder->slots[i] > header->term_count)
			return false;
		has_free_slot |= embedder->slots[i] == 0;
	}
	return has_free_slot;
}

static void set_sections(struct embedder *embedder)
{
	const struct embedder_header *header = embedder->header;
	size_t count = header->term_count;
	embedder->rows = (const int8_t *)(header + 1);
	embedder->scales = (const float *)(embedder->rows + count * header->stride);
	embedder->weights = embedder->scales + count;
	embedder->offsets = (const uint32_t *)(embedder->weights + count);
	embedder->slots = embedder->offsets + count;
	embedder->strings = (const char *)(embedder->slots + header->slot_count);
	embedder->centroids = (struct centroids){
		.count = header->list_count,
		.dimension = header->dimension,
		.stride = header->stride,
		.scales = (const float *)(embedder->strings + header->strings_length),
	};
	embedder->centroids.rows =
		(const int8_t *)(embedder->centroids.scales + header->list_count);
}

static void set_version(struct embedder *embedder)
{
	const struct embedder_header *header = embedder->header;
	uint8_t digest[SHA256_LEN];
	char hex[2 * VERSION_DIGEST_BYTES + 1];
	sha256(header, header->length, digest);
	hex_encode(digest, VERSION_DIGEST_BYTES, hex);
	snprintf(embedder->version, sizeof(embedder->version), "%s-%u-%s", header->method,
	         header->dimension, hex);
}

struct embedder *embedder_open(void *data, size_t length, bool takes_data)
{
	struct embedder *embedder = mem_array(1, sizeof(*embedder));
	embedder->owned = takes_data ? data : NULL;
	embedder->header = data;
	if (is_header_valid(data, length)) {
		set_sections(embedder);
		if (is_content_valid(embedder)) {
			set_version(embedder);
			return embedder;
		}
	}
	embedder_free(embedder);
	return NULL;
}

void embedder_free(struct embedder *embedder)
{
	if (!embedder)
		return;
	free(embedder->owned);
	free(embedder);
}

struct embedder *embedder_with_centroids(struct embedder *embedder,
                                         const struct centroids *centroids)
{
	size_t length = embedder->header->length;
	size_t added = centroids->count * (sizeof(float) + (size_t)centroids->stride);
	char *blob = mem_array(length + added, 1);
	struct embedder_header *header = (struct embedder_header *)blob;
	require(embedder->header->list_count == 0 && centroids->stride == embedder->header->stride);
	memcpy(blob, embedder->header, length);
	memcpy(blob + length, centroids->scales, centroids->count * sizeof(float));
	memcpy(blob + length + centroids->count * sizeof(float), centroids->rows,
	       centroids->count * (size_t)centroids->stride);
	header->length = length + added;
	header->list_count = centroids->count;
	embedder_free(embedder);
	embedder = embedder_open(blob, length + added, true);
	require(embedder);
	return embedder;
}

static uint32_t find_term(const struct embedder *embedder, const char *text)
{
	size_t mask = embedder->header->slot_count - 1;
	size_t at = intern_hash(text, strlen(text)) & mask;
	for (; embedder->slots[at] != 0; at = (at + 1) & mask) {
		uint32_t term = embedder->slots[at] - 1;
		if (strcmp(embedder->strings + embedder->offsets[term], text) == 0)
			return term;
	}
	return SEGMENT_NONE;
}

bool embedder_has_term(const struct embedder *embedder, const char *text)
{
	return find_term(embedder, text) != SEGMENT_NONE;
}

uint32_t *embedder_map_terms(const struct embedder *embedder, const struct segment *segment)
{
	uint32_t *map = mem_array(segment->term_count, sizeof(uint32_t));
	for (uint32_t i = 0; i < segment->term_count; i++)
		map[i] = find_term(embedder, segment_term_text(segment, i));
	return map;
}

bool embedder_normalise(float *vector, size_t dimension)
{
	float length = sqrtf(simd_dot(vector, vector, dimension));
	if (!(length > 1e-12f))
		return false;
	for (size_t i = 0; i < dimension; i++)
		vector[i] /= length;
	return true;
}

/* Add the vector of one term, weighted by its frequency, to `out`. */
static void add_term(const struct embedder *embedder, uint32_t term, float frequency, float *out)
{
	const struct embedder_header *header = embedder->header;
	float damped = frequency > 1.0f ? 1.0f + logf(frequency) : frequency;
	simd_add_scaled_i8(out, damped * embedder->weights[term] * embedder->scales[term],
	                   embedder->rows + (size_t)term * header->stride, header->dimension);
}

static int compare_terms(const void *a, const void *b)
{
	uint32_t left = ((const struct term_frequency *)a)->term;
	uint32_t right = ((const struct term_frequency *)b)->term;
	return left < right ? -1 : left > right;
}

/* Write the main tokens of the document that are in the vocabulary to `terms`, one entry per token.
 * Returns their number. */
static size_t read_term_frequencies(const struct segment *segment, const uint32_t *map,
                                    uint32_t doc, struct term_frequency *terms)
{
	struct forward forward = segment_forward(segment, doc);
	uint32_t count = forward.title_count + forward.abstract_count;
	size_t used = 0;
	for (uint32_t i = 0; i < count && used < EMBEDDER_DOC_TOKENS; i++) {
		uint32_t term = map[forward_next(&forward)];
		if (term != SEGMENT_NONE)
			terms[used++] =
				(struct term_frequency){term, (float)forward_weight(&forward, i)};
	}
	return used;
}

bool embedder_embed_doc(const struct embedder *embedder, const struct segment *segment,
                        const uint32_t *map, uint32_t doc, struct term_frequency *terms, float *out)
{
	return embedder_embed_terms(embedder, terms,
	                            read_term_frequencies(segment, map, doc, terms), out);
}

bool embedder_embed_terms(const struct embedder *embedder, struct term_frequency *terms,
                          size_t count, float *out)
{
	memset(out, 0, embedder->header->dimension * sizeof(float));
	qsort(terms, count, sizeof(*terms), compare_terms);
	for (size_t i = 0, next; i < count; i = next) {
		float frequency = 0;
		for (next = i; next < count && terms[next].term == terms[i].term; next++)
			frequency += terms[next].frequency;
		add_term(embedder, terms[i].term, frequency, out);
	}
	return embedder_normalise(out, embedder->header->dimension);
}

bool embedder_embed(const struct embedder *embedder, const struct parsed_query *parsed, float *out)
{
	memset(out, 0, embedder->header->dimension * sizeof(float));
	for (size_t i = 0; i < parsed->term_count; i++) {
		uint32_t term = find_term(embedder, parsed->terms[i].text);
		if (term != SEGMENT_NONE && !parsed->terms[i].is_extra)
			add_term(embedder, term, parsed->terms[i].count, out);
	}
	return embedder_normalise(out, embedder->header->dimension);
}
