#include "engine/lexical/lexical.h"

#include "engine/lexical/bm25.h"
#include "engine/lexical/score_simd.h"

#include <math.h>
#include <string.h>

/* Documents in a window; the scores of a window fit into the first-level cache. */
#define WINDOW 2048

/* Greatest relative error of the float product that bounds a score. */
#define ROUNDING 1e-5f

/* Postings that a look-up steps over at a time. */
#define SKIP 8

/* Position in the posting list of one term. */
struct cursor {
	const struct posting_block *blocks;
	struct posting_block only; /* `blocks` of a list that has one block */
	const uint8_t *data;
	uint32_t block_count;
	uint32_t df;
	uint32_t block;   /* the first block that can contain a document of the window */
	uint32_t decoded; /* block whose postings are unpacked below; SEGMENT_NONE: none */
	uint32_t count;   /* postings in that block */
	uint32_t at;      /* index of the next posting */
	float weight;
	float bound;     /* upper bound of the term's score in the window */
	uint32_t scored; /* block whose scores are below; SEGMENT_NONE: none */
	uint32_t docs[POSTINGS_BLOCK];
	uint8_t frequencies[POSTINGS_BLOCK];
	float scores[POSTINGS_BLOCK];
};

struct search {
	const struct segment *segment;
	const struct doc_filter *filter;
	const float *norms;
	float stretch; /* greatest factor of an impact against the one in a block header */
	struct topk top;
	struct cursor **cursors; /* by ascending bound in the window */
	float *sums;             /* sums[i]: the sum of the bounds of cursors 0 to i */
	size_t count;
	uint32_t begin;       /* the window's first document */
	uint32_t end;         /* the document after its last one */
	float scores[WINDOW]; /* by document of the window, of essential terms; 0 between windows */
};

void lexical_norms_set(struct lexical_norms *norms, float average_length)
{
	norms->average_length = average_length;
	for (int i = 0; i <= SEGMENT_MAX_LENGTH; i++)
		norms->by_length[i] = bm25_norm((float)i, average_length);
}

float lexical_scale(float weight_sum)
{
	return SCORE_MAX / (weight_sum * (BM25_K1 + 1.0f));
}

static inline float norm_of(const struct search *search, uint32_t doc)
{
	return search->norms[search->segment->lengths[doc]];
}

static inline float score_of(const struct search *search, const struct cursor *cursor, uint32_t i)
{
	return score_posting(cursor->weight, cursor->frequencies[i],
	                     norm_of(search, cursor->docs[i]));
}

static void decode(struct cursor *cursor, uint32_t block)
{
	uint32_t before = block * POSTINGS_BLOCK;
	if (cursor->decoded == block)
		return;
	cursor->count = MIN_OF(cursor->df - before, (uint32_t)POSTINGS_BLOCK);
	postings_unpack(cursor->data + cursor->blocks[block].offset, cursor->count,
	                block > 0 ? cursor->blocks[block - 1].last_doc + 1 : 0, cursor->docs,
	                cursor->frequencies);
	cursor->decoded = block;
	cursor->at = 0;
}

/* Compute the scores of the decoded block. */
static void score_block(const struct search *search, struct cursor *cursor)
{
	if (cursor->scored == cursor->decoded)
		return;
	float norms[POSTINGS_BLOCK] = {0};
	for (uint32_t i = 0; i < cursor->count; i++)
		norms[i] = norm_of(search, cursor->docs[i]);
	score_postings(cursor->weight, cursor->frequencies, norms, cursor->count, cursor->scores);
	cursor->scored = cursor->decoded;
}

/* Move the cursor to the window from `begin` up to `end` and bound the term's score in it. */
static void enter_window(struct cursor *cursor, uint32_t begin, uint32_t end, float stretch)
{
	float max = 0;
	while (cursor->block < cursor->block_count &&
	       cursor->blocks[cursor->block].last_doc < begin)
		cursor->block++;
	for (uint32_t i = cursor->block; i < cursor->block_count; i++) {
		if (i > cursor->block && cursor->blocks[i - 1].last_doc + 1 >= end)
			break;
		max = MAX_OF(max, cursor->blocks[i].max_impact);
	}
	cursor->bound = max > 0 ? ceilf(max * cursor->weight * stretch * (1.0f + ROUNDING)) + 1 : 0;
}

static void sort_by_bound(struct search *search)
{
	float sum = 0;
	for (size_t i = 1; i < search->count; i++) {
		struct cursor *cursor = search->cursors[i];
		size_t at = i;
		for (; at > 0 && search->cursors[at - 1]->bound > cursor->bound; at--)
			search->cursors[at] = search->cursors[at - 1];
		search->cursors[at] = cursor;
	}
	for (size_t i = 0; i < search->count; i++) {
		sum += search->cursors[i]->bound;
		search->sums[i] = sum;
	}
}

/* Add the scores of an essential term to all documents of the window. */
static void add_scores(struct search *search, struct cursor *cursor)
{
	for (uint32_t block = cursor->block; block < cursor->block_count; block++) {
		if (block > 0 && cursor->blocks[block - 1].last_doc + 1 >= search->end)
			return;
		decode(cursor, block);
		score_block(search, cursor);
		while (cursor->at < cursor->count && cursor->docs[cursor->at] < search->begin)
			cursor->at++;
		for (; cursor->at < cursor->count; cursor->at++) {
			if (cursor->docs[cursor->at] >= search->end)
				return;
			search->scores[cursor->docs[cursor->at] - search->begin] +=
				cursor->scores[cursor->at];
		}
	}
}

/* The score of one term for one document. Documents must be looked up in ascending order. */
static float look_up(struct search *search, struct cursor *cursor, uint32_t doc)
{
	while (cursor->block < cursor->block_count && cursor->blocks[cursor->block].last_doc < doc)
		cursor->block++;
	if (cursor->block == cursor->block_count)
		return 0;
	decode(cursor, cursor->block);
	while (cursor->at + SKIP < cursor->count && cursor->docs[cursor->at + SKIP] < doc)
		cursor->at += SKIP;
	while (cursor->docs[cursor->at] < doc)
		cursor->at++;
	return cursor->docs[cursor->at] == doc ? score_of(search, cursor, cursor->at) : 0;
}

/* Add the scores of the non-essential terms to a document, and offer it if its score is high
 * enough. Stops early when it cannot reach the threshold. */
static void complete_score(struct search *search, uint32_t doc, size_t essential)
{
	float score = search->scores[doc - search->begin];
	float threshold = search->top.threshold;
	for (size_t i = essential; i-- > 0;) {
		if (score + search->sums[i] <= threshold)
			return;
		score += look_up(search, search->cursors[i], doc);
	}
	if (score > threshold)
		topk_offer(&search->top, doc, score);
}

/* Offer the documents of the window that pass the filter and can reach the threshold. None can
 * without an essential term. */
static void collect_hits(struct search *search, size_t essential)
{
	const uint64_t *bits = search->filter->bits;
	float rest = essential > 0 ? search->sums[essential - 1] : 0;
	for (uint32_t first = search->begin; first < search->end; first += 64) {
		uint64_t left = scores_above(search->scores + (first - search->begin), rest,
		                             search->top.threshold);
		if (bits)
			left &= bits[first / 64];
		for (; left != 0; left &= left - 1)
			complete_score(search, first + (uint32_t)__builtin_ctzll(left), essential);
	}
	memset(search->scores, 0, sizeof(search->scores));
}

/* Whether the filter allows no document of the window. */
static bool is_window_empty(const struct search *search)
{
	const uint64_t *bits = search->filter->bits;
	if (!bits)
		return false;
	for (uint32_t word = search->begin / 64; word < (search->end + 63) / 64; word++)
		if (bits[word] != 0)
			return false;
	return true;
}

static void search_window(struct search *search)
{
	size_t essential = 0;
	if (is_window_empty(search))
		return;
	for (size_t i = 0; i < search->count; i++)
		enter_window(search->cursors[i], search->begin, search->end, search->stretch);
	sort_by_bound(search);
	while (essential < search->count && search->sums[essential] <= search->top.threshold)
		essential++;
	if (essential == search->count)
		return;
	for (size_t i = essential; i < search->count; i++)
		add_scores(search, search->cursors[i]);
	collect_hits(search, essential);
}

/* Make the header of the only block, which the segment does not have. */
static void set_only_block(const struct search *search, struct cursor *cursor)
{
	cursor->blocks = &cursor->only;
	decode(cursor, 0);
	cursor->only.last_doc = cursor->docs[cursor->count - 1];
	for (uint32_t i = 0; i < cursor->count; i++) {
		float norm = norm_of(search, cursor->docs[i]);
		cursor->only.max_impact =
			MAX_OF(cursor->only.max_impact, bm25_impact(cursor->frequencies[i], norm));
	}
}

static struct cursor *open_cursor(const struct search *search, const struct lexical_term *term,
                                  struct arena *arena)
{
	const struct segment *segment = search->segment;
	const struct segment_term *entry = &segment->terms[term->term];
	struct cursor *cursor = arena_new_of(arena, struct cursor);
	cursor->blocks = segment_blocks(segment, term->term);
	cursor->data = segment->postings + entry->data;
	cursor->block_count = segment_block_count(entry);
	cursor->df = entry->df;
	cursor->decoded = SEGMENT_NONE;
	cursor->scored = SEGMENT_NONE;
	cursor->weight = term->weight;
	if (!cursor->blocks)
		set_only_block(search, cursor);
	return cursor;
}

/* The impacts in block headers were computed with the average length of the segment. With a greater
 * one they grow by at most the ratio of the two: only the part of the norm that depends on the
 * length shrinks, and it by that ratio. With a lesser one they do not grow. */
static float stretch_of(const struct segment *segment, const struct lexical_norms *norms)
{
	return MAX_OF(norms->average_length / segment->header->average_length, 1.0f);
}

size_t lexical_search(const struct segment *segment, const struct lexical_query *query,
                      struct arena *arena, struct hit *hits)
{
	struct search *search = arena_new_of(arena, struct search);
	uint32_t below = query->filter->below;
	search->segment = segment;
	search->filter = query->filter;
	search->norms = query->norms->by_length;
	search->stretch = stretch_of(segment, query->norms);
	search->count = query->count;
	search->cursors = arena_array(arena, query->count, sizeof(*search->cursors));
	search->sums = arena_array(arena, query->count, sizeof(float));
	topk_init(&search->top, hits, query->k, query->floor);
	for (size_t i = 0; i < query->count; i++)
		search->cursors[i] = open_cursor(search, &query->terms[i], arena);
	for (uint32_t begin = 0; begin < below; begin += WINDOW) {
		search->begin = begin;
		search->end = MIN_OF(begin + WINDOW, below);
		search_window(search);
	}
	topk_sort(&search->top);
	return search->top.count;
}
