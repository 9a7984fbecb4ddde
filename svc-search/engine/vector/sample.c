#include "engine/vector/sample.h"

#include "crypto/crypto.h"
#include "engine/lexical/bm25.h"
#include "engine/text/mem.h"

_Static_assert(SAMPLE_FINGERPRINT_BYTES == SHA256_LEN, "a fingerprint is a SHA-256 digest");

struct sample *sample_new(uint32_t doc_capacity, uint32_t corpus_count)
{
	struct sample *sample = mem_array(1, sizeof(*sample));
	sample->corpus_count = corpus_count;
	sample->doc_capacity = doc_capacity;
	sample->starts = mem_array((size_t)doc_capacity + 1, sizeof(size_t));
	sample->title_counts = mem_array(doc_capacity, sizeof(uint32_t));
	return sample;
}

void sample_free(struct sample *sample)
{
	if (!sample)
		return;
	intern_done(&sample->texts);
	free(sample->starts);
	free(sample->title_counts);
	free(sample->tokens);
	free(sample->df);
	free(sample->names);
	free(sample->counts);
	free(sample);
}

static void reserve_tokens(struct sample *sample, size_t count)
{
	size_t needed = sample->starts[sample->doc_count] + count;
	if (needed <= sample->token_capacity)
		return;
	sample->token_capacity =
		MAX_OF(sample->token_capacity + sample->token_capacity / 4, needed);
	sample->tokens = mem_resize(sample->tokens, sample->token_capacity, sizeof(uint32_t));
}

/* The number in `texts` of a term of the segment. */
static uint32_t name_of(struct sample *sample, const struct segment *segment, uint32_t *map,
                        uint32_t term)
{
	if (map[term] == 0) {
		const char *text = segment_term_text(segment, term);
		map[term] = 1 + intern_add(&sample->texts, text, strlen(text));
	}
	return map[term] - 1;
}

/* Count the paper for a term that it contains, once. */
static void count_term(struct sample *sample, uint32_t name)
{
	if (name >= sample->count_capacity) {
		size_t before = sample->count_capacity;
		sample->count_capacity = mem_capacity(before, name + (size_t)1);
		sample->counts =
			mem_resize(sample->counts, sample->count_capacity, sizeof(*sample->counts));
		memset(sample->counts + before, 0,
		       (sample->count_capacity - before) * sizeof(*sample->counts));
	}
	struct sample_count *count = &sample->counts[name];
	count->df += count->last != sample->doc_count + 1;
	count->last = sample->doc_count + 1;
}

void sample_add(struct sample *sample, const struct segment *segment, uint32_t *map, uint32_t doc)
{
	struct forward forward = segment_forward(segment, doc);
	uint32_t main_count =
		MIN_OF(forward.title_count + forward.abstract_count, (uint32_t)SAMPLE_DOC_TOKENS);
	uint32_t count = forward_count(&forward);
	require(sample->doc_count < sample->doc_capacity && !sample->names);
	reserve_tokens(sample, main_count);
	uint32_t *tokens = sample->tokens + sample->starts[sample->doc_count];
	for (uint32_t i = 0; i < count; i++) {
		uint32_t name = name_of(sample, segment, map, forward_next(&forward));
		count_term(sample, name);
		if (i < main_count)
			tokens[i] = name;
	}
	sample->title_counts[sample->doc_count] = MIN_OF(forward.title_count, main_count);
	sample->starts[sample->doc_count + 1] = sample->starts[sample->doc_count] + main_count;
	sample->doc_count++;
}

static int compare_terms(const void *a, const void *b, void *ctx)
{
	uint32_t left = *(const uint32_t *)a;
	uint32_t right = *(const uint32_t *)b;
	const struct sample *sample = ctx;
	if (sample->counts[left].df != sample->counts[right].df)
		return sample->counts[left].df > sample->counts[right].df ? -1 : 1;
	return strcmp(intern_text(&sample->texts, left), intern_text(&sample->texts, right));
}

/* Set the vocabulary. */
static void name_terms(struct sample *sample)
{
	uint32_t count = 0;
	sample->names = mem_array(sample->texts.count, sizeof(uint32_t));
	for (uint32_t name = 0; name < sample->texts.count; name++)
		if (sample->counts[name].df >= 2)
			sample->names[count++] = name;
	qsort_r(sample->names, count, sizeof(uint32_t), compare_terms, sample);
	sample->term_count = MIN_OF(count, (uint32_t)SAMPLE_MAX_TERMS);
	sample->df = mem_array(sample->term_count, sizeof(uint32_t));
	for (uint32_t term = 0; term < sample->term_count; term++)
		sample->df[term] = sample->counts[sample->names[term]].df;
}

/* Replace the numbers in `texts` by those of the terms; drop the tokens of other terms. */
static void renumber(struct sample *sample)
{
	mem_auto_free uint32_t *terms = mem_array(sample->texts.count, sizeof(uint32_t));
	size_t at = 0;
	for (uint32_t term = 0; term < sample->term_count; term++)
		terms[sample->names[term]] = term + 1;
	for (uint32_t doc = 0; doc < sample->doc_count; doc++) {
		size_t start = sample->starts[doc];
		size_t title_end = start + sample->title_counts[doc];
		sample->starts[doc] = at;
		sample->title_counts[doc] = 0;
		for (size_t i = start; i < sample->starts[doc + 1]; i++) {
			uint32_t term = terms[sample->tokens[i]];
			if (term == 0)
				continue;
			sample->tokens[at++] = term - 1;
			sample->title_counts[doc] += i < title_end;
		}
	}
	sample->starts[sample->doc_count] = at;
}

void sample_finish(struct sample *sample)
{
	name_terms(sample);
	renumber(sample);
	free(sample->counts);
	sample->counts = NULL;
}

const char *sample_term_text(const struct sample *sample, uint32_t term)
{
	return intern_text(&sample->texts, sample->names[term]);
}

/* SHA-256 of the texts of all terms, in the order of their numbers. */
static void digest_texts(const struct sample *sample, uint8_t out[SHA256_LEN])
{
	struct arena *arena = arena_new();
	struct buf texts = {.arena = arena};
	for (uint32_t term = 0; term < sample->term_count; term++) {
		const char *text = sample_term_text(sample, term);
		buf_add(&texts, text, strlen(text) + 1);
	}
	sha256(texts.data, texts.length, out);
	arena_free(arena);
}

void sample_fingerprint(const struct sample *sample, uint8_t out[SAMPLE_FINGERPRINT_BYTES])
{
	uint8_t digests[4][SHA256_LEN];
	sha256(sample->starts, (sample->doc_count + (size_t)1) * sizeof(size_t), digests[0]);
	sha256(sample->title_counts, sample->doc_count * sizeof(uint32_t), digests[1]);
	sha256(sample->tokens, sample->starts[sample->doc_count] * sizeof(uint32_t), digests[2]);
	digest_texts(sample, digests[3]);
	sha256(digests, sizeof(digests), out);
}

uint32_t sample_weight(const struct sample *sample, uint32_t doc, size_t i)
{
	return i < sample->title_counts[doc] ? BM25_TITLE_WEIGHT : 1;
}

uint32_t sample_order(const char *id)
{
	return intern_hash(id, strlen(id));
}
