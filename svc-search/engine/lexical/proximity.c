#include "engine/lexical/proximity.h"

#include "base/base.h"
#include "engine/lexical/bm25.h"

#include <string.h>

/* Slots of the hash table of the query's terms by their number in the segment. The table has a
 * fixed size and no pointers because every token of every scored document is looked up in it. */
#define SLOTS (QUERY_MAX_TERMS * 4)

/* Bits of the set that most tokens, which are not in the query, are looked up in only. */
#define SET_BITS 1024

struct slot {
	uint32_t term;       /* number in the segment; SEGMENT_NONE is a free slot */
	uint32_t query_term; /* index in the query */
};

struct proximity_scorer {
	const struct segment *segment;
	const struct lexical_norms *norms;
	const struct parsed_query *query;
	struct slot slots[SLOTS];
	uint64_t set[SET_BITS / 64]; /* bit `number % SET_BITS` of each term in `slots` */
	float weights[QUERY_MAX_TERMS];
	float smoothed_weights[QUERY_MAX_TERMS];
	uint32_t frequencies[QUERY_MAX_TERMS]; /* in the current document */
	/* By first and second term: number of the pair + 1, 0 if they are no pair. */
	uint8_t pair_of[QUERY_MAX_TERMS][QUERY_MAX_TERMS];
	float pair_weights[QUERY_MAX_TERMS * 2];
	float pair_counts[QUERY_MAX_TERMS * 2]; /* in the current document */
	size_t pair_count;
	bool has_names;        /* a term of the query is one of a name */
	uint32_t title_factor; /* of the frequencies of words in the title */
};

static size_t slot_of(const struct proximity_scorer *scorer, uint32_t term)
{
	size_t at = (term * 2654435761u) >> 16 & (SLOTS - 1);
	while (scorer->slots[at].term != SEGMENT_NONE && scorer->slots[at].term != term)
		at = (at + 1) & (SLOTS - 1);
	return at;
}

static void add_pair(struct proximity_scorer *scorer, uint32_t first, uint32_t second)
{
	bool is_full = scorer->pair_count == ARRAY_LEN(scorer->pair_weights);
	if (first == QUERY_NO_TERM || second == QUERY_NO_TERM || first == second || is_full ||
	    scorer->pair_of[first][second] != 0)
		return;
	scorer->pair_weights[scorer->pair_count++] =
		PROXIMITY_PAIR_WEIGHT * 0.5f * (scorer->weights[first] + scorer->weights[second]);
	scorer->pair_of[first][second] = (uint8_t)scorer->pair_count;
}

struct proximity_scorer *proximity_scorer_new(const struct segment *segment,
                                              const struct lexical_norms *norms,
                                              const struct parsed_query *query, struct arena *arena)
{
	struct proximity_scorer *scorer = arena_new_of(arena, struct proximity_scorer);
	require(query->term_count <= QUERY_MAX_TERMS);
	scorer->segment = segment;
	scorer->norms = norms;
	scorer->query = query;
	scorer->title_factor = query->has_names ? PROXIMITY_NAMED_TITLE : 1;
	for (size_t i = 0; i < ARRAY_LEN(scorer->slots); i++)
		scorer->slots[i].term = SEGMENT_NONE;
	for (uint32_t i = 0; i < query->term_count; i++) {
		const struct query_term *term = &query->terms[i];
		uint32_t number = segment_find_term(segment, term->text, term->length);
		scorer->weights[i] = term->count * term->idf;
		scorer->smoothed_weights[i] = term->count * term->smoothed_idf;
		scorer->has_names |= term->is_name;
		if (number == SEGMENT_NONE)
			continue;
		scorer->slots[slot_of(scorer, number)] = (struct slot){number, i};
		scorer->set[number % SET_BITS / 64] |= UINT64_C(1) << (number % 64);
	}
	for (size_t i = 1; i < query->sequence_count; i++)
		add_pair(scorer, query->sequence[i - 1], query->sequence[i]);
	return scorer;
}

/* The index in the query of a term of the segment; QUERY_NO_TERM: it is not in the query. */
static uint32_t find_query_term(const struct proximity_scorer *scorer, uint32_t term)
{
	if ((scorer->set[term % SET_BITS / 64] >> (term % 64) & 1) == 0)
		return QUERY_NO_TERM;
	const struct slot *slot = &scorer->slots[slot_of(scorer, term)];
	return slot->term == SEGMENT_NONE ? QUERY_NO_TERM : slot->query_term;
}

/* Where a run of main tokens contains a term of the query. */
struct place {
	uint32_t query_term;
	uint32_t at;
};

/* Count the pairs of a term and those before it in the run. `recent` are the last ones, the newest
 * first. */
static void count_pairs(struct proximity_scorer *scorer, const struct place *recent, size_t count,
                        struct place current)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t back = current.at - recent[i].at;
		uint8_t forward = scorer->pair_of[recent[i].query_term][current.query_term];
		uint8_t backward = scorer->pair_of[current.query_term][recent[i].query_term];
		if (back > PROXIMITY_WINDOW)
			return;
		if (forward != 0)
			scorer->pair_counts[forward - 1] += 1.0f / (float)back;
		if (backward != 0)
			scorer->pair_counts[backward - 1] += 0.5f / (float)back;
	}
}

/* Count the terms of the next `count` tokens, each `weight` times, and their pairs if they are main
 * tokens. Returns the bits of the terms. */
static uint64_t count_run(struct proximity_scorer *scorer, struct forward *forward, uint32_t count,
                          uint32_t weight, bool is_main)
{
	uint64_t matched = 0;
	struct place recent[PROXIMITY_WINDOW];
	size_t recent_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct place current = {find_query_term(scorer, forward_next(forward)), i};
		if (current.query_term == QUERY_NO_TERM)
			continue;
		matched |= UINT64_C(1) << current.query_term;
		scorer->frequencies[current.query_term] += weight;
		if (!is_main)
			continue;
		count_pairs(scorer, recent, recent_count, current);
		memmove(recent + 1, recent, sizeof(recent) - sizeof(recent[0]));
		recent[0] = current;
		recent_count = MIN_OF(recent_count + 1, ARRAY_LEN(recent));
	}
	return matched;
}

/* The frequencies of the terms in each field. */
struct field_counts {
	uint32_t counts[PAPER_FIELDS][QUERY_MAX_TERMS];
	uint32_t counted[QUERY_MAX_TERMS]; /* in the runs before */
};

/* Account the frequencies that the last run has added to a field. */
static void account(const struct proximity_scorer *scorer, struct field_counts *counts,
                    enum paper_field field)
{
	for (size_t i = 0; counts && i < scorer->query->term_count; i++) {
		counts->counts[field][i] += scorer->frequencies[i] - counts->counted[i];
		counts->counted[i] = scorer->frequencies[i];
	}
}

/* Count the terms and pairs of the document. Returns the bits of the terms that it contains.
 * `counts` may be NULL. */
static uint64_t count_tokens(struct proximity_scorer *scorer, struct forward *forward,
                             struct field_counts *counts)
{
	uint32_t title_weight = BM25_TITLE_WEIGHT * scorer->title_factor;
	uint64_t matched = count_run(scorer, forward, forward->title_count, title_weight, true);
	account(scorer, counts, PAPER_TITLE);
	matched |= count_run(scorer, forward, forward->abstract_count, 1, true);
	account(scorer, counts, PAPER_ABSTRACT);
	matched |= count_run(scorer, forward, forward->title_extra_count, BM25_TITLE_WEIGHT, false);
	account(scorer, counts, PAPER_TITLE);
	matched |= count_run(scorer, forward, forward->abstract_extra_count, 1, false);
	account(scorer, counts, PAPER_ABSTRACT);
	if (scorer->has_names)
		matched |= count_run(scorer, forward, forward->author_count, BM25_AUTHOR_WEIGHT,
		                     false);
	account(scorer, counts, PAPER_AUTHORS);
	return matched;
}

static float norm_of(const struct proximity_scorer *scorer, uint32_t doc)
{
	return scorer->norms->by_length[scorer->segment->lengths[doc]];
}

/* The impact of a term in the current document. */
static float impact_of(const struct proximity_scorer *scorer, size_t term, float norm)
{
	uint32_t frequency = MIN_OF(scorer->frequencies[term], (uint32_t)BM25_MAX_FREQUENCY);
	return frequency > 0 ? bm25_impact((float)frequency, norm) : 0;
}

static float score_pair(const struct proximity_scorer *scorer, size_t pair, float norm)
{
	float count = scorer->pair_counts[pair];
	return count > 0 ? scorer->pair_weights[pair] * bm25_impact(count, norm) : 0;
}

struct proximity_score proximity_score_document(struct proximity_scorer *scorer, uint32_t doc)
{
	struct forward forward = segment_forward(scorer->segment, doc);
	float norm = norm_of(scorer, doc);
	struct proximity_score score = {0};
	score.matched = count_tokens(scorer, &forward, NULL);
	for (size_t i = 0; i < scorer->query->term_count; i++) {
		float impact = impact_of(scorer, i, norm);
		score.words += scorer->weights[i] * impact;
		score.smoothed += scorer->smoothed_weights[i] * impact;
		scorer->frequencies[i] = 0;
	}
	for (size_t i = 0; i < scorer->pair_count; i++) {
		score.pairs += score_pair(scorer, i, norm);
		scorer->pair_counts[i] = 0;
	}
	return score;
}

static struct term_score explain_term(const struct proximity_scorer *scorer, size_t term,
                                      const struct field_counts *counts, float norm)
{
	struct term_score explained = {
		.score = scorer->weights[term] * impact_of(scorer, term, norm),
	};
	for (int field = 0; field < PAPER_FIELDS && explained.score > 0; field++) {
		float share = (float)counts->counts[field][term] / (float)scorer->frequencies[term];
		explained.fields[field] = explained.score * share; /* all of it if share is 1 */
	}
	return explained;
}

/* Add a pair, if the document has it. */
static void explain_pair(const struct proximity_scorer *scorer, uint32_t first, uint32_t second,
                         float norm, struct proximity_detail *detail)
{
	uint8_t pair = scorer->pair_of[first][second];
	float score = pair > 0 ? score_pair(scorer, pair - 1u, norm) : 0;
	if (score > 0)
		detail->pairs[detail->pair_count++] = (struct pair_score){{first, second}, score};
}

void proximity_explain_document(struct proximity_scorer *scorer, uint32_t doc,
                                struct proximity_detail *detail)
{
	struct forward forward = segment_forward(scorer->segment, doc);
	float norm = norm_of(scorer, doc);
	uint32_t terms = (uint32_t)scorer->query->term_count;
	struct field_counts counts = {0};
	memset(detail, 0, sizeof(*detail));
	count_tokens(scorer, &forward, &counts);
	for (uint32_t i = 0; i < terms; i++)
		detail->terms[i] = explain_term(scorer, i, &counts, norm);
	for (uint32_t first = 0; first < terms; first++)
		for (uint32_t second = 0; second < terms; second++)
			explain_pair(scorer, first, second, norm, detail);
	memset(scorer->frequencies, 0, sizeof(scorer->frequencies));
	memset(scorer->pair_counts, 0, sizeof(scorer->pair_counts));
}
