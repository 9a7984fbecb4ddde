#include "engine/engine.h"
#include "engine/fusion.h"
#include "engine/lexical/bm25.h"
#include "engine/lexical/proximity.h"
#include "engine/lexical/spelling.h"
#include "engine/vector/ivf.h"
#include "engine/view.h"

#include <string.h>

/* Candidates from each of lexical and dense retrieval per segment, at least; 1.5 times the limit of
 * the query when that is more. */
#define CANDIDATES 150

/* A query of more bytes is a description: it is reduced to its DESCRIPTION_TERMS terms of the
 * greatest weight, and its spelling is not corrected. */
#define DESCRIPTION_BYTES 1000
#define DESCRIPTION_TERMS 40

/* A document that contains this many of the main terms of a long query covers it fully. */
#define FULL_TERMS 8

/* The state of one search. */
struct search {
	const struct engine_view *view;
	const struct engine_query *query;
	struct arena *arena;
	struct parsed_query *parsed;
	struct doc_filter filters[PART_COUNT];
	struct proximity_scorer *scorers[PART_COUNT];
	struct candidate *candidates;
	size_t count;
	size_t depth;     /* candidates per segment and kind of retrieval */
	float *vector;    /* of the query; NULL: none */
	bool has_dense;   /* dense scores are available */
	float full_score; /* see fusion_rank() */
};

const char *engine_strategy_name(enum engine_strategy strategy)
{
	return strategy == ENGINE_HYBRID ? "hybrid" : "lexical";
}

/* Out-of-vocabulary words of one query that are looked up for a correction. */
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

/* The indexed term nearest to an out-of-vocabulary one by edit distance; NULL: none is near enough. */
static const char *correction_of(const struct engine_view *view, const struct query_term *term)
{
	for (enum view_part part = 0; part < PART_COUNT; part++) {
		const struct segment *segment = view_segment(view, part);
		uint32_t nearest = spelling_nearest(segment, term->text, term->length);
		if (nearest != SEGMENT_NONE)
			return segment_term_text(segment, nearest);
	}
	return NULL;
}

/* Replace out-of-vocabulary terms by their corrections. */
static void correct_spelling(const struct engine_view *view, struct parsed_query *parsed)
{
	size_t looked_up = 0;
	for (size_t i = 0; i < parsed->term_count && looked_up < CORRECTIONS; i++) {
		struct query_term *term = &parsed->terms[i];
		if (term->is_extra || count_documents(view, term) > 0)
			continue;
		looked_up++;
		const char *correction = correction_of(view, term);
		if (!correction || has_term(parsed, correction))
			continue;
		term->text = correction;
		term->length = strlen(correction);
	}
}

/* Set the idf of each term over all segments, including dead documents. An out-of-vocabulary term of a
 * short query keeps its high idf, so that no document covers the query fully. In a description it
 * gets weight 0, because it would displace other terms. */
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

/* The BM25 score of a document of average length that contains each main term twice; of the FULL_TERMS
 * terms of the greatest weight when there are more. */
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

/* The query's vector, from the built-in embedder or as passed in. It is a copy, because feedback moves
 * it. NULL when there is no vector that is comparable with those of the papers. */
static float *query_vector(const struct search *search)
{
	const struct embedder *embedder = search->view->base->embedder;
	uint32_t dimension = view_dimension(search->view);
	if (dimension == 0)
		return NULL;
	float *vector;
	if (!embedder)
		return search->query->vector && search->query->dimension == dimension
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
		correct_spelling(search->view, search->parsed);
	search->vector = query_vector(search);
	search->has_dense = search->vector || search->view->base->embedder;
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

/* Whether the query contains the id of the document; the tokenizer keeps ids as terms. An id without
 * "." and "/" is ignored, because it could be an ordinary word or number. */
static bool is_named(const struct search *search, const char *id)
{
	return strpbrk(id, "./") && has_term(search->parsed, id);
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
		.awaits_vector = view_awaits_vector(search->view, part, doc),
		.matched = score.matched,
		.is_named = is_named(search, segment_doc_id(segment, doc)),
	};
}

/* Add the best documents of one segment by BM25. */
static void add_lexical_candidates(struct search *search, enum view_part part)
{
	const struct segment *segment = view_segment(search->view, part);
	const struct parsed_query *parsed = search->parsed;
	struct hit *hits = arena_array(search->arena, search->depth, sizeof(*hits));
	size_t count = 0;
	struct lexical_term terms[QUERY_MAX_TERMS];
	for (size_t i = 0; i < parsed->term_count; i++) {
		const struct query_term *term = &parsed->terms[i];
		uint32_t number = segment_find_term(segment, term->text, term->length);
		if (number != SEGMENT_NONE)
			terms[count++] = (struct lexical_term){number, term->count * term->idf};
	}
	if (count == 0)
		return;
	size_t found = lexical_search(segment, terms, count, &search->filters[part], search->depth,
	                              search->arena, hits);
	for (size_t i = 0; i < found; i++)
		add_candidate(search, part, hits[i].doc, 0);
}

/* The cosine relative to the mean cosine of two papers of the base. */
static float above_background(const struct search *search, float cosine)
{
	const struct vectors *vectors = search->view->base->vectors;
	return vectors ? vectors_above_background(vectors, cosine) : cosine;
}

static void set_cosines(struct search *search, const struct vector_query *query)
{
	for (size_t i = 0; i < search->count; i++) {
		struct candidate *candidate = &search->candidates[i];
		if (!candidate->awaits_vector)
			candidate->cosine = above_background(
				search, vectors_cosine(view_vectors(search->view, candidate->part),
			                               query, candidate->doc));
	}
}

/* Move the query's vector toward the mean of the best candidates so far (Rocchio feedback). */
static void apply_feedback(struct search *search)
{
	uint32_t dimension = engine_dimension(search->view);
	float *sum = arena_array(search->arena, dimension, sizeof(float));
	float *vector = arena_array(search->arena, dimension, sizeof(float));
	size_t used = MIN_OF(search->count, (size_t)FUSION_FEEDBACK_DOCS);
	fusion_rank(search->candidates, search->count, search->full_score, true);
	for (size_t i = 0; i < used; i++) {
		const struct candidate *candidate = &search->candidates[i];
		if (candidate->awaits_vector)
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

/* A bitmap of the documents of `part` that are candidates already. */
static uint64_t *candidate_bits(const struct search *search, enum view_part part)
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

/* Add the best documents of one segment by cosine. */
static void add_dense_candidates(struct search *search, enum view_part part,
                                 const struct vector_query *query)
{
	struct hit *hits = arena_array(search->arena, search->depth, sizeof(*hits));
	const uint64_t *known = candidate_bits(search, part);
	const struct ivf *ivf = part == PART_BASE ? search->view->base->ivf : NULL;
	const struct vectors *vectors = view_vectors(search->view, part);
	if (!vectors)
		return;
	size_t found;
	if (ivf)
		found = ivf_search(ivf, vectors, query, &search->filters[part], search->depth,
		                   search->arena, hits);
	else
		found = vectors_scan(vectors, query, &search->filters[part], search->depth, hits);
	for (size_t i = 0; i < found; i++)
		if (!is_candidate(known, hits[i].doc))
			add_candidate(search, part, hits[i].doc,
			              above_background(search, hits[i].score));
}

static void rank_with_vectors(struct search *search)
{
	uint32_t dimension = engine_dimension(search->view);
	struct vector_query query = vector_query_make(search->vector, dimension, search->arena);
	set_cosines(search, &query);
	apply_feedback(search);
	query = vector_query_make(search->vector, dimension, search->arena);
	set_cosines(search, &query);
	for (enum view_part part = 0; part < PART_COUNT; part++)
		add_dense_candidates(search, part, &query);
	fusion_rank(search->candidates, search->count, search->full_score, true);
}

/* List the main words of the query that the candidate contains, by descending weight. */
static void set_matched_words(const struct search *search, const struct candidate *candidate,
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
		set_matched_words(search, candidate, hit);
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
		add_lexical_candidates(search, part);
	if (search->vector)
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
		if (doc == SEGMENT_NONE || !vectors ||
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
	if (!view->base->embedder)
		return false;
	return embedder_embed(view->base->embedder, query_parse(arena, text, length), out);
}
