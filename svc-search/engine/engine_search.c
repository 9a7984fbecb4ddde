#include "engine/engine.h"
#include "engine/fusion.h"
#include "engine/lexical/bm25.h"
#include "engine/lexical/proximity.h"
#include "engine/lexical/spelling.h"
#include "engine/vector/ivf.h"
#include "engine/view.h"

#include <string.h>

/* Candidates that each side proposes for a short list; for a longer one, this many more than asked
 * for. */
#define CANDIDATES 150

/* A text of more bytes than this is a description, not a question: only its most telling terms are
 * looked for. */
#define DESCRIPTION_BYTES 1000

/* How many of them. */
#define DESCRIPTION_TERMS 40

/* Words that are all a document can be expected to answer of a long question. */
#define FULL_TERMS 8

/* What the steps of one search hand to each other. */
struct search {
	const struct engine_view *view;
	const struct engine_query *query;
	struct arena *arena;
	struct parsed_query *parsed;
	struct doc_filter filters[PART_COUNT];
	struct proximity_scorer *scorers[PART_COUNT];
	struct candidate *candidates;
	size_t count;
	size_t depth;     /* candidates that each side proposes */
	float *vector;    /* the query's; NULL where there is none */
	bool has_dense;   /* the words are not all that can speak for a document */
	float full_score; /* see fusion_rank() */
};

const char *engine_strategy_name(enum engine_strategy strategy)
{
	return strategy == ENGINE_HYBRID ? "hybrid" : "lexical";
}

/* Misspelled words of one query that are put right. */
#define CORRECTIONS 4

static uint32_t count_documents(const struct engine_view *view, const struct query_term *term)
{
	uint32_t count = 0;

	for (enum view_part part = 0; part < PART_COUNT; part++) {
		const struct segment *segment = view_segment(view, part);
		uint32_t number = segment_find_term(segment, term->text, term->length);

		count += number != SEGMENT_NONE ? segment->terms[number].df : 0;
	}
	return count;
}

static bool has_term(const struct parsed_query *parsed, const char *text)
{
	for (size_t i = 0; i < parsed->term_count; i++)
		if (strcmp(parsed->terms[i].text, text) == 0)
			return true;
	return false;
}

/* The term that is meant by one that no document holds; NULL: none is near. */
static const char *meant_by(const struct engine_view *view, const struct query_term *term)
{
	for (enum view_part part = 0; part < PART_COUNT; part++) {
		const struct segment *segment = view_segment(view, part);
		uint32_t nearest = spelling_nearest(segment, term->text, term->length);

		if (nearest != SEGMENT_NONE)
			return segment_term_text(segment, nearest);
	}
	return NULL;
}

/* Put words that no document holds right. */
static void correct_words(const struct engine_view *view, struct parsed_query *parsed)
{
	size_t looked_at = 0;

	for (size_t i = 0; i < parsed->term_count && looked_at < CORRECTIONS; i++) {
		struct query_term *term = &parsed->terms[i];
		const char *meant;

		if (term->is_extra || count_documents(view, term) > 0)
			continue;
		looked_at++;
		meant = meant_by(view, term);
		if (meant == NULL || has_term(parsed, meant))
			continue;
		term->text = meant;
		term->length = strlen(meant);
	}
}

/* Set each term's idf over all segments, dead documents included. What no document holds tells most
 * of a question, that it has no full answer; in a description it would only crowd out other
 * terms. */
static void weigh_terms(const struct engine_view *view, struct parsed_query *parsed,
                        bool is_description)
{
	uint32_t doc_count = view->base->segment->doc_count + view->live->doc_count;

	for (size_t i = 0; i < parsed->term_count; i++) {
		struct query_term *term = &parsed->terms[i];
		uint32_t df = count_documents(view, term);

		term->idf = df == 0 && is_description ? 0 : bm25_idf(df, doc_count);
	}
}

/* The score that the main words, or of many the FULL_TERMS most telling, give when each occurs
 * twice in a document of average length. */
static float full_score(const struct parsed_query *parsed)
{
	float greatest[FULL_TERMS] = {0};
	float sum = 0;

	for (size_t i = 0; i < parsed->term_count; i++) {
		float weight = parsed->terms[i].count * parsed->terms[i].idf;

		for (size_t at = 0; at < FULL_TERMS && !parsed->terms[i].is_extra; at++) {
			float less = MIN_OF(weight, greatest[at]);

			greatest[at] = MAX_OF(weight, greatest[at]);
			weight = less;
		}
	}
	for (size_t at = 0; at < FULL_TERMS; at++)
		sum += greatest[at];
	return MAX_OF(sum * bm25_impact(2, bm25_norm(1, 1)), 1e-6f);
}

/* The query's vector, by the embedder built in, or else as it came: to be moved by feedback. NULL
 * when there is none that compares with the papers'. */
static float *query_vector(const struct search *search)
{
	const struct embedder *embedder = search->view->base->embedder;
	uint32_t dimension = view_dimension(search->view);
	float *vector;

	if (dimension == 0)
		return NULL;
	if (embedder == NULL)
		return search->query->vector != NULL && search->query->dimension == dimension
		               ? arena_memdup(search->arena, search->query->vector,
		                              dimension * sizeof(float))
		               : NULL;
	vector = arena_array(search->arena, dimension, sizeof(float));
	return embedder_embed(embedder, search->parsed, vector) ? vector : NULL;
}

static void prepare(struct search *search)
{
	const struct engine_query *query = search->query;
	bool is_description = query->length > DESCRIPTION_BYTES;

	search->parsed = query_parse(search->arena, query->text, query->length);
	if (!is_description)
		correct_words(search->view, search->parsed);
	search->vector = query_vector(search);
	search->has_dense = search->vector != NULL || search->view->base->embedder != NULL;
	weigh_terms(search->view, search->parsed, is_description);
	query_keep_best(search->parsed, is_description ? DESCRIPTION_TERMS : QUERY_MAX_TERMS,
	                search->arena);
	search->full_score = full_score(search->parsed);
	for (enum view_part part = 0; part < PART_COUNT; part++) {
		const struct segment *segment = view_segment(search->view, part);

		search->filters[part] =
			filter_resolve(&query->filter, segment, view_alive(search->view, part),
		                       search->arena);
		search->scorers[part] =
			proximity_scorer_new(segment, search->parsed, search->arena);
	}
}

/* Whether the query names the document by its id, which terms that are ids are written as. An id
 * that could be a word or a number says nothing by standing in the query. */
static bool is_named(const struct search *search, const char *id)
{
	return strpbrk(id, "./") != NULL && has_term(search->parsed, id);
}

static void add_candidate(struct search *search, enum view_part part, uint32_t doc, float cosine)
{
	const struct segment *segment = view_segment(search->view, part);
	struct proximity_score score = proximity_score_document(search->scorers[part], doc);

	search->candidates[search->count++] = (struct candidate){
		.part = part,
		.doc = doc,
		.published = segment->docs[doc].published,
		.id = segment_doc_id(segment, doc),
		.words = score.words,
		.pairs = score.pairs,
		.cosine = cosine,
		.is_bare = view_is_bare(search->view, part, doc),
		.matched = score.matched,
		.is_named = is_named(search, segment_doc_id(segment, doc)),
	};
}

/* The lexical side's proposals from one segment. */
static void propose_by_words(struct search *search, enum view_part part)
{
	const struct segment *segment = view_segment(search->view, part);
	const struct parsed_query *parsed = search->parsed;
	struct lexical_term terms[QUERY_MAX_TERMS];
	struct hit *hits = arena_array(search->arena, search->depth, sizeof(*hits));
	size_t count = 0;
	size_t found;

	for (size_t i = 0; i < parsed->term_count; i++) {
		const struct query_term *term = &parsed->terms[i];
		uint32_t number = segment_find_term(segment, term->text, term->length);

		if (number != SEGMENT_NONE)
			terms[count++] = (struct lexical_term){number, term->count * term->idf};
	}
	if (count == 0)
		return;
	found = lexical_search(segment, terms, count, &search->filters[part], search->depth,
	                       search->arena, hits);
	for (size_t i = 0; i < found; i++)
		add_candidate(search, part, hits[i].doc, 0);
}

static struct vector_query make_query(const struct search *search, const float *vector)
{
	return vector_query_make(vector, engine_dimension(search->view), search->arena);
}

/* The cosine as it stands out from those of any two papers of the base. */
static float standing_out(const struct search *search, float cosine)
{
	const struct vectors *vectors = search->view->base->vectors;

	return vectors != NULL ? vectors_above_background(vectors, cosine) : cosine;
}

static void set_cosines(struct search *search, const struct vector_query *query)
{
	for (size_t i = 0; i < search->count; i++) {
		struct candidate *candidate = &search->candidates[i];

		if (!candidate->is_bare)
			candidate->cosine =
				standing_out(search, vectors_cosine(view_vectors(search->view,
			                                                         candidate->part),
			                                            query, candidate->doc));
	}
}

/* Move the query's vector toward the mean of the best of the candidates so far. */
static void apply_feedback(struct search *search)
{
	uint32_t dimension = engine_dimension(search->view);
	float *sum = arena_array(search->arena, dimension, sizeof(float));
	float *vector = arena_array(search->arena, dimension, sizeof(float));
	size_t used = MIN_OF(search->count, (size_t)FUSION_FEEDBACK_DOCS);

	fusion_rank(search->candidates, search->count, search->full_score, true);
	for (size_t i = 0; i < used; i++) {
		const struct candidate *candidate = &search->candidates[i];

		if (candidate->is_bare)
			continue;
		vectors_get(view_vectors(search->view, candidate->part), candidate->doc, vector);
		for (uint32_t d = 0; d < dimension; d++)
			sum[d] += vector[d];
	}
	if (!embedder_normalise(sum, dimension))
		return;
	for (uint32_t d = 0; d < dimension; d++)
		search->vector[d] += FUSION_FEEDBACK * sum[d];
	embedder_normalise(search->vector, dimension);
}

static bool is_candidate(const uint64_t *known, uint32_t doc)
{
	return (known[doc / 64] >> (doc % 64) & 1) != 0;
}

/* Bits of the documents of `part` that are candidates already. */
static uint64_t *mark_known(const struct search *search, enum view_part part)
{
	uint32_t doc_count = view_segment(search->view, part)->doc_count;
	uint64_t *known =
		arena_array(search->arena, ((size_t)doc_count + 63) / 64, sizeof(uint64_t));

	for (size_t i = 0; i < search->count; i++)
		if (search->candidates[i].part == part)
			known[search->candidates[i].doc / 64] |=
				UINT64_C(1) << (search->candidates[i].doc % 64);
	return known;
}

/* The dense side's proposals from one segment. */
static void propose_by_vector(struct search *search, enum view_part part,
                              const struct vector_query *query)
{
	struct hit *hits = arena_array(search->arena, search->depth, sizeof(*hits));
	const uint64_t *known = mark_known(search, part);
	const struct ivf *ivf = part == PART_BASE ? search->view->base->ivf : NULL;
	const struct vectors *vectors = view_vectors(search->view, part);
	size_t found;

	if (vectors == NULL)
		return;
	if (ivf != NULL)
		found = ivf_search(ivf, vectors, query, &search->filters[part], search->depth,
		                   search->arena, hits);
	else
		found = vectors_scan(vectors, query, &search->filters[part], search->depth, hits);
	for (size_t i = 0; i < found; i++)
		if (!is_candidate(known, hits[i].doc))
			add_candidate(search, part, hits[i].doc,
			              standing_out(search, hits[i].score));
}

static void rank_with_vectors(struct search *search)
{
	struct vector_query query = make_query(search, search->vector);

	set_cosines(search, &query);
	apply_feedback(search);
	query = make_query(search, search->vector);
	set_cosines(search, &query);
	for (enum view_part part = 0; part < PART_COUNT; part++)
		propose_by_vector(search, part, &query);
	fusion_rank(search->candidates, search->count, search->full_score, true);
}

/* The query's main words that the candidate holds, by falling weight. */
static void name_matched(const struct search *search, const struct candidate *candidate,
                         struct engine_hit *hit)
{
	const struct query_term *terms = search->parsed->terms;
	const char **words = arena_array(search->arena, ENGINE_MAX_MATCHED, sizeof(*words));
	uint64_t left = candidate->matched;

	while (left != 0 && hit->matched_count < ENGINE_MAX_MATCHED) {
		size_t best = (size_t)__builtin_ctzll(left);

		for (uint64_t others = left; others != 0; others &= others - 1) {
			size_t i = (size_t)__builtin_ctzll(others);

			if (terms[i].count * terms[i].idf > terms[best].count * terms[best].idf)
				best = i;
		}
		left &= ~(UINT64_C(1) << best);
		if (!terms[best].is_extra)
			words[hit->matched_count++] = terms[best].word;
	}
	hit->matched = words;
}

static void write_hits(const struct search *search, struct engine_result *result)
{
	result->count = MIN_OF(search->count, search->query->limit);
	result->hits = arena_array(search->arena, result->count, sizeof(*result->hits));
	for (size_t i = 0; i < result->count; i++) {
		const struct candidate *candidate = &search->candidates[i];
		const struct segment_doc *doc =
			&view_segment(search->view, candidate->part)->docs[candidate->doc];
		struct engine_hit *hit = &result->hits[i];

		hit->id = arena_strdup(search->arena, candidate->id);
		hit->relevance = candidate->relevance;
		hit->words = candidate->words + candidate->pairs;
		hit->cosine = candidate->cosine;
		hit->published = doc->published;
		hit->has_container = doc->has_container;
		hit->seq = doc->seq;
		name_matched(search, candidate, hit);
	}
}

struct engine_result engine_search(const struct engine_view *view, const struct engine_query *query,
                                   struct arena *arena)
{
	struct engine_result result = {0};
	struct search *search = arena_new_of(arena, struct search);

	require(query->limit > 0 && query->limit <= ENGINE_MAX_RESULTS);
	search->view = view;
	search->query = query;
	search->arena = arena;
	search->depth = MAX_OF((size_t)CANDIDATES, query->limit + query->limit / 2);
	search->candidates =
		arena_array(arena, search->depth * 2 * PART_COUNT, sizeof(*search->candidates));
	prepare(search);
	for (enum view_part part = 0; part < PART_COUNT; part++)
		propose_by_words(search, part);
	if (search->vector != NULL)
		rank_with_vectors(search);
	else
		fusion_rank(search->candidates, search->count, search->full_score,
		            search->has_dense);
	result.strategy = search->has_dense ? ENGINE_HYBRID : ENGINE_LEXICAL;
	write_hits(search, &result);
	return result;
}

uint32_t engine_dimension(const struct engine_view *view)
{
	return view_dimension(view);
}

bool engine_vector(const struct engine_view *view, const char *id, float *out)
{
	for (enum view_part part = 0; part < PART_COUNT; part++) {
		const struct segment *segment = view_segment(view, part);
		const struct vectors *vectors = view_vectors(view, part);
		uint32_t doc = segment_find_doc(segment, id);

		if (doc == SEGMENT_NONE || vectors == NULL ||
		    (part == PART_BASE && !view_is_alive(view, doc)))
			continue;
		vectors_get(vectors, doc, out);
		return embedder_normalise(out, engine_dimension(view));
	}
	return false;
}

bool engine_embed(const struct engine_view *view, const char *text, size_t length, float *out,
                  struct arena *arena)
{
	if (view->base->embedder == NULL)
		return false;
	return embedder_embed(view->base->embedder, query_parse(arena, text, length), out);
}
