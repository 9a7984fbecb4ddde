#include "engine/lexical/evidence.h"

#include "base/base.h"
#include "engine/lexical/bm25.h"

#include <string.h>

/* The query's terms by their number in the segment: a hash table of at least twice as many
 * slots. */
#define SLOTS (QUERY_MAX_TERMS * 4)

struct slot {
	uint32_t term;       /* number in the segment; SEGMENT_NONE is a free slot */
	uint32_t query_term; /* number in the query */
};

struct evidence_reader {
	const struct segment *segment;
	const struct parsed_query *query;
	struct slot slots[SLOTS];
	float weights[QUERY_MAX_TERMS];
	uint32_t frequencies[QUERY_MAX_TERMS]; /* of the document being read */
	/* Pairs by first and second term: number of the pair + 1, 0 where the query has none. */
	uint8_t pair_of[QUERY_MAX_TERMS][QUERY_MAX_TERMS];
	float pair_weights[QUERY_MAX_TERMS * 2];
	float pair_counts[QUERY_MAX_TERMS * 2]; /* of the document being read */
	size_t pair_count;
};

static size_t slot_of(const struct evidence_reader *reader, uint32_t term)
{
	size_t at = (term * 2654435761u) >> 16 & (SLOTS - 1);

	while (reader->slots[at].term != SEGMENT_NONE && reader->slots[at].term != term)
		at = (at + 1) & (SLOTS - 1);
	return at;
}

static void add_pair(struct evidence_reader *reader, uint32_t first, uint32_t second)
{
	bool is_full = reader->pair_count == ARRAY_LEN(reader->pair_weights);

	if (first == QUERY_NO_TERM || second == QUERY_NO_TERM || first == second || is_full ||
	    reader->pair_of[first][second] != 0)
		return;
	reader->pair_weights[reader->pair_count++] =
		EVIDENCE_PAIR_WEIGHT * 0.5f * (reader->weights[first] + reader->weights[second]);
	reader->pair_of[first][second] = (uint8_t)reader->pair_count;
}

struct evidence_reader *evidence_open(const struct segment *segment,
                                      const struct parsed_query *query, struct arena *arena)
{
	struct evidence_reader *reader = arena_new_of(arena, struct evidence_reader);

	require(query->term_count <= QUERY_MAX_TERMS);
	reader->segment = segment;
	reader->query = query;
	for (size_t i = 0; i < ARRAY_LEN(reader->slots); i++)
		reader->slots[i].term = SEGMENT_NONE;
	for (uint32_t i = 0; i < query->term_count; i++) {
		const struct query_term *term = &query->terms[i];
		uint32_t number = segment_find_term(segment, term->text, term->length);

		reader->weights[i] = term->count * term->idf;
		if (number != SEGMENT_NONE)
			reader->slots[slot_of(reader, number)] = (struct slot){number, i};
	}
	for (size_t i = 1; i < query->sequence_count; i++)
		add_pair(reader, query->sequence[i - 1], query->sequence[i]);
	return reader;
}

/* The main tokens just read, by how far back: QUERY_NO_TERM for words that are not in the query. */
static void count_pairs(struct evidence_reader *reader, const uint32_t *recent, uint32_t current)
{
	for (uint32_t back = 1; back <= EVIDENCE_REACH; back++) {
		uint32_t other = recent[back - 1];
		uint8_t forward;
		uint8_t backward;

		if (other == QUERY_NO_TERM)
			continue;
		forward = reader->pair_of[other][current];
		backward = reader->pair_of[current][other];
		if (forward != 0)
			reader->pair_counts[forward - 1] += 1.0f / (float)back;
		if (backward != 0)
			reader->pair_counts[backward - 1] += 0.5f / (float)back;
	}
}

/* Count the words and pairs of the document; returns which terms it holds. */
static uint64_t count_tokens(struct evidence_reader *reader, struct forward *forward)
{
	uint32_t recent[EVIDENCE_REACH];
	uint32_t main_count = forward->title_count + forward->abstract_count;
	uint32_t count = forward_count(forward);
	uint64_t matched = 0;

	memset(recent, 0xFF, sizeof(recent));
	for (uint32_t i = 0; i < count; i++) {
		const struct slot *slot = &reader->slots[slot_of(reader, forward_next(forward))];
		uint32_t current = slot->term == SEGMENT_NONE ? QUERY_NO_TERM : slot->query_term;

		if (i == forward->title_count || i >= main_count)
			memset(recent, 0xFF, sizeof(recent));
		if (current != QUERY_NO_TERM) {
			matched |= UINT64_C(1) << current;
			reader->frequencies[current] += forward_weight(forward, i);
			count_pairs(reader, recent, current);
		}
		memmove(recent + 1, recent, sizeof(recent) - sizeof(recent[0]));
		recent[0] = current;
	}
	return matched;
}

struct evidence evidence_read(struct evidence_reader *reader, uint32_t doc)
{
	struct forward forward = segment_forward(reader->segment, doc);
	float norm = reader->segment->norms[reader->segment->docs[doc].length];
	struct evidence evidence = {0};

	evidence.matched = count_tokens(reader, &forward);
	for (size_t i = 0; i < reader->query->term_count; i++) {
		uint32_t frequency = MIN_OF(reader->frequencies[i], (uint32_t)BM25_MAX_FREQUENCY);

		if (frequency > 0)
			evidence.words += reader->weights[i] * bm25_impact((float)frequency, norm);
		reader->frequencies[i] = 0;
	}
	for (size_t i = 0; i < reader->pair_count; i++) {
		if (reader->pair_counts[i] > 0)
			evidence.pairs +=
				reader->pair_weights[i] * bm25_impact(reader->pair_counts[i], norm);
		reader->pair_counts[i] = 0;
	}
	return evidence;
}
