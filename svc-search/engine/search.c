#include "engine/best_hits.h"
#include "engine/compounds.h"
#include "engine/engine.h"
#include "engine/fusion.h"
#include "engine/hit_explanation.h"
#include "engine/lexical/bm25.h"
#include "engine/lexical/proximity.h"
#include "engine/lexical/spelling.h"
#include "engine/query_names.h"
#include "engine/relevance_scale.h"
#include "engine/vector/ivf.h"
#include "engine/view.h"
#include "engine/vocabulary.h"

#include <stdlib.h>
#include <string.h>

/* Candidates from each of lexical and dense retrieval, at least; 1.5 times the limit of the query
 * when that is more; and as many as it leaves out. */
#define CANDIDATES 150

/* A query of more bytes is a description: it is reduced to its DESCRIPTION_TERMS terms of the
 * greatest weight, and its spelling is not corrected. */
#define DESCRIPTION_BYTES 1000
#define DESCRIPTION_TERMS 40

/* Out-of-vocabulary words of one query that are looked up for a correction. */
#define CORRECTIONS 4

/* Documents that must contain the correction of a word of a query that may be an unseen name: one
 * in so many. Names are near some rare term. */
#define UNSEEN_NAME_FRACTION 1000

/* Changed papers are looked for to this part of the depth of a whole search, which is made instead
 * when more than CHANGES_MIN and one in CHANGES_FRACTION papers have changed. The more papers have
 * changed, the more are among the best: 45 of a depth of 450 if one in ten has, as a rule. */
#define CHANGES_DEPTH    4
#define CHANGES_FRACTION 10
#define CHANGES_MIN      100

/* The records of this many candidates are being fetched while one is scored. */
#define PREFETCH_CANDIDATES 6

/* The state of one search. */
struct search {
	const struct engine_view *view;
	const struct engine_query *query;
	struct arena *arena;
	struct parsed_query *parsed;
	enum query_names names;
	uint64_t name_terms; /* bits of the names; 0 unless the query consists of names */
	enum engine_mode mode;
	struct doc_filter *filters;         /* by part: which papers can be candidates */
	const struct doc_filter *retrieved; /* by part: which of them retrieval may add */
	struct proximity_scorer **scorers;  /* by part */
	struct candidate *candidates;
	size_t count;
	size_t depth;                /* candidates per kind of retrieval */
	float *vector;               /* of the query; NULL: none */
	const char *const *feedback; /* ids of the papers that move it */
	size_t feedback_count;
	bool has_dense; /* dense scores are available */
	bool has_id;    /* a term can be the id of a paper */
	struct relevance_scale scale;
	struct fusion fusion;
};

const char *engine_strategy_name(enum engine_strategy strategy)
{
	return strategy == ENGINE_HYBRID ? "hybrid" : "lexical";
}

const char *engine_hint_name(enum engine_hint hint)
{
	static const char *const names[] = {
		[ENGINE_HINT_NO_WORDS] = "no_words",
		[ENGINE_HINT_UNKNOWN_WORDS] = "unknown_words",
		[ENGINE_HINT_UNKNOWN_NAME] = "unknown_name",
		[ENGINE_HINT_FILTERED] = "filtered",
	};
	return names[hint];
}

static const struct segment *part_segment(const struct engine_view *view, size_t part)
{
	return view->parts[part].part->segment;
}

/* For spelling_nearest(). */
static uint32_t count_documents(const char *text, size_t length, const void *ctx)
{
	return vocabulary_df(ctx, text, length);
}

static bool is_correction_used(const struct search *search, const struct parsed_query *parsed,
                               const char *correction)
{
	uint32_t df = vocabulary_df(search->view, correction, strlen(correction));
	return !query_find_term(parsed, correction) &&
	       (search->names != QUERY_NAMES_UNSEEN ||
	        df > search->view->doc_count / UNSEEN_NAME_FRACTION);
}

/* Replace out-of-vocabulary terms by their corrections. */
static void correct_spelling(const struct search *search, struct parsed_query *parsed)
{
	const struct engine_view *view = search->view;
	const struct segment **segments =
		arena_array(search->arena, view->part_count, sizeof(*segments));
	size_t looked_up = 0;
	for (size_t i = 0; i < view->part_count; i++)
		segments[i] = part_segment(view, i);
	for (size_t i = 0; i < parsed->term_count && looked_up < CORRECTIONS; i++) {
		struct query_term *term = &parsed->terms[i];
		if (term->is_extra || term->count <= 0 ||
		    vocabulary_df(view, term->text, term->length) > 0)
			continue;
		looked_up++;
		const char *correction = spelling_nearest(segments, view->part_count, term->text,
		                                          term->length, count_documents, view);
		if (!correction || !is_correction_used(search, parsed, correction))
			continue;
		term->text = correction;
		term->length = strlen(correction);
	}
}

/* Set the idf of each term, over the living documents. An out-of-vocabulary term of a
 * short query keeps its high idf, so that no document covers the query fully. In a description it
 * gets weight 0, because it would displace other terms. */
static void weigh_terms(const struct engine_view *view, struct parsed_query *parsed,
                        bool is_description)
{
	for (size_t i = 0; i < parsed->term_count; i++) {
		struct query_term *term = &parsed->terms[i];
		uint32_t df = vocabulary_df(view, term->text, term->length);
		bool is_ignored = df == 0 && is_description;
		term->idf = is_ignored ? 0 : bm25_idf(df, view->doc_count);
		term->smoothed_idf = is_ignored ? 0 : bm25_smoothed_idf(df, view->doc_count);
	}
}

/* The query's vector, from the built-in embedder or as passed in. It is a copy, because feedback
 * moves it. NULL when there is no vector that is comparable with those of the papers. */
static float *query_vector(const struct search *search)
{
	const struct embedder *embedder = search->view->model->embedder;
	uint32_t dimension = search->view->dimension;
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

/* Whether a term can be the id of a paper; the tokenizer keeps ids as terms. An id without "." and
 * "/" is ignored, because it could be an ordinary word or number. */
static bool has_id(const struct parsed_query *parsed)
{
	for (size_t i = 0; i < parsed->term_count; i++)
		if (strpbrk(parsed->terms[i].text, "./"))
			return true;
	return false;
}

/* Parse the query. One that is no description is also rewritten in terms of the index. */
static void read_query(struct search *search, bool is_description)
{
	const char *text = search->query->text;
	size_t length = search->query->length;
	if (!is_description) {
		text = compounds_split(search->view, text, length, search->arena);
		length = text == search->query->text ? length : strlen(text);
	}
	search->parsed = query_parse(search->arena, text, length);
	if (is_description)
		return;
	if (search->query->is_topic)
		query_names_add_mentioned(search->view, text, length, search->parsed,
		                          search->arena);
	else
		search->names =
			query_names_add(search->view, text, length, search->parsed, search->arena);
	correct_spelling(search, search->parsed);
	if (search->parsed->term_count == 0)
		search->parsed = query_parse_stop_words(search->arena, text, length);
}

/* The bits of the terms of names. */
static uint64_t name_terms(const struct parsed_query *parsed)
{
	uint64_t bits = 0;
	for (size_t i = 0; i < parsed->term_count; i++)
		bits |= (uint64_t)parsed->terms[i].is_name << i;
	return bits;
}

/* The depth that finds the results of the query. */
static size_t depth_for(const struct engine_query *query)
{
	return MAX_OF((size_t)CANDIDATES, query->limit + query->limit / 2);
}

/* Retrieve only the papers that have changed, unless a search is no less work or the view is older
 * than the candidates. */
static void restrict_to_changed(struct search *search)
{
	const struct engine_view *view = search->view;
	uint64_t after = search->query->changed_after;
	struct doc_filter *changed = arena_array(search->arena, view->part_count, sizeof(*changed));
	size_t count = 0;
	for (size_t part = 0; part < view->part_count; part++)
		changed[part] = filter_changed(&search->filters[part], part_segment(view, part),
		                               after, search->arena, &count);
	if (after > engine_view_seq(view) ||
	    count > view->doc_count / CHANGES_FRACTION + CHANGES_MIN) {
		search->mode = ENGINE_SEARCH;
		return;
	}
	search->retrieved = changed;
	search->depth = MAX_OF(depth_for(search->query) / CHANGES_DEPTH, (size_t)1);
}

static void choose_mode(struct search *search)
{
	const struct engine_query *query = search->query;
	search->mode = query->mode;
	search->retrieved = search->filters;
	if (query->mode == ENGINE_REFRESH)
		restrict_to_changed(search);
	if (query->mode == ENGINE_RERANK) {
		search->feedback = query->feedback;
		search->feedback_count = query->feedback_count;
	}
}

static void prepare(struct search *search)
{
	const struct engine_query *query = search->query;
	size_t part_count = search->view->part_count;
	bool is_description = query->length > DESCRIPTION_BYTES;
	read_query(search, is_description);
	bool has_names = search->parsed->has_names;
	search->vector = has_names ? NULL : query_vector(search);
	search->has_dense = search->vector || (search->view->model->embedder && !has_names);
	weigh_terms(search->view, search->parsed, is_description);
	query_keep_best(search->parsed, is_description ? DESCRIPTION_TERMS : QUERY_MAX_TERMS,
	                search->arena);
	if (search->names == QUERY_NAMES_ALL)
		search->name_terms = name_terms(search->parsed);
	search->scale = relevance_scale_of(search->view, search->parsed, search->vector != NULL);
	search->has_id = has_id(search->parsed);
	search->filters = arena_array(search->arena, part_count, sizeof(*search->filters));
	search->scorers = arena_array(search->arena, part_count, sizeof(*search->scorers));
	for (size_t part = 0; part < search->view->part_count; part++) {
		const struct view_part *at = &search->view->parts[part];
		search->filters[part] =
			filter_resolve(&query->filter, at->part->segment,
		                       at->deaths ? at->deaths->alive : NULL, search->arena);
	}
	choose_mode(search);
}

/* Whether the query contains the id of the document. */
static bool is_named(const struct search *search, const char *id)
{
	return search->has_id && strpbrk(id, "./") && query_find_term(search->parsed, id);
}

/* The scorer of a part, made when it is first needed: most parts have no candidate. */
static struct proximity_scorer *part_scorer(struct search *search, size_t part)
{
	if (!search->scorers[part])
		search->scorers[part] =
			proximity_scorer_new(part_segment(search->view, part), &search->view->norms,
		                             search->parsed, search->arena);
	return search->scorers[part];
}

static void add_candidate(struct search *search, size_t part, uint32_t doc, float cosine)
{
	const struct segment *segment = part_segment(search->view, part);
	struct proximity_score score = proximity_score_document(part_scorer(search, part), doc);
	search->candidates[search->count++] = (struct candidate){
		.part = (uint32_t)part,
		.doc = doc,
		.published = segment->docs[doc].published,
		.id = segment_doc_id(segment, doc),
		.words = score.words,
		.smoothed = score.smoothed,
		.pairs = score.pairs,
		.cosine = cosine,
		.awaits_vector = view_awaits_vector(search->view, part, doc),
		.matched = score.matched,
		.coverage = query_coverage(search->parsed, score.matched),
		.is_named = is_named(search, segment_doc_id(segment, doc)),
		.has_all_names = (search->name_terms & ~score.matched) == 0,
	};
}

/* The terms of the query in one segment, with scaled weights. Returns how many. */
static size_t list_terms(const struct parsed_query *parsed, const struct segment *segment,
                         float scale, struct lexical_term *terms)
{
	size_t count = 0;
	for (size_t i = 0; i < parsed->term_count; i++) {
		const struct query_term *term = &parsed->terms[i];
		uint32_t number = segment_find_term(segment, term->text, term->length);
		float weight = term->count * term->idf * scale;
		if (number != SEGMENT_NONE && weight > 0)
			terms[count++] = (struct lexical_term){number, weight};
	}
	return count;
}

static float weight_sum(const struct parsed_query *parsed)
{
	float sum = 0;
	for (size_t i = 0; i < parsed->term_count; i++)
		sum += parsed->terms[i].count * parsed->terms[i].idf;
	return sum;
}

static void prefetch_candidate(const struct search *search, const struct best_hits *best, size_t i)
{
	if (i < best->count)
		segment_prefetch_forward(part_segment(search->view, best->hits[i].part),
		                         best->hits[i].doc);
}

/* Add the best documents by BM25. */
static void add_lexical_candidates(struct search *search)
{
	struct best_hits best = best_hits_new(search->arena, search->depth);
	float sum = weight_sum(search->parsed);
	float scale = sum > 0 ? lexical_scale(sum) : 0;
	struct lexical_term terms[QUERY_MAX_TERMS];
	for (size_t part = 0; part < search->view->part_count; part++) {
		const struct segment *segment = part_segment(search->view, part);
		struct lexical_query query = {
			.terms = terms,
			.count = list_terms(search->parsed, segment, scale, terms),
			.norms = &search->view->norms,
			.filter = &search->retrieved[part],
			.floor = best_hits_floor(&best),
			.k = search->depth,
		};
		if (query.count > 0 && query.filter->below > 0)
			best_hits_add(&best, (uint32_t)part, segment,
			              lexical_search(segment, &query, search->arena, best.of_part));
	}
	for (size_t i = 0; i < best.count; i++) {
		prefetch_candidate(search, &best, i + PREFETCH_CANDIDATES);
		add_candidate(search, best.hits[i].part, best.hits[i].doc, 0);
	}
}

/* Whether retrieval will look at the paper, as it has changed since the candidates were found. */
static bool is_retrieved(const struct search *search, size_t part, uint32_t doc)
{
	return search->mode == ENGINE_REFRESH &&
	       part_segment(search->view, part)->docs[doc].seq > search->query->changed_after;
}

static void add_known_candidates(struct search *search)
{
	const struct engine_query *query = search->query;
	for (size_t i = 0; i < query->candidate_count; i++) {
		uint32_t doc;
		const struct view_part *at = view_find(search->view, query->candidates[i], &doc);
		size_t part = at ? (size_t)(at - search->view->parts) : 0;
		if (at && doc_filter_allows(&search->filters[part], doc) &&
		    !is_retrieved(search, part, doc))
			add_candidate(search, part, doc, 0);
	}
}

/* The cosine relative to the mean cosine of two papers. */
static float above_background(const struct search *search, float cosine)
{
	return vectors_above_background(search->view->background, cosine);
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

/* Put the candidates that have words of the query first. Returns how many: all, but when candidates
 * of an earlier search are ranked again. */
static size_t put_lexical_first(struct search *search)
{
	size_t count = 0;
	for (size_t i = 0; i < search->count; i++) {
		struct candidate candidate = search->candidates[i];
		if (candidate.words <= 0)
			continue;
		search->candidates[i] = search->candidates[count];
		search->candidates[count++] = candidate;
	}
	return count;
}

/* Choose the best candidates by words so far, by words and the query's own vector. */
static void choose_feedback(struct search *search)
{
	size_t count = put_lexical_first(search);
	size_t used = MIN_OF(count, (size_t)FUSION_FEEDBACK_DOCS);
	const char **ids = arena_array(search->arena, used, sizeof(*ids));
	fusion_rank(search->candidates, count, search->scale, true);
	search->feedback_count = 0;
	for (size_t i = 0; i < used; i++)
		if (!search->candidates[i].awaits_vector)
			ids[search->feedback_count++] = search->candidates[i].id;
	search->feedback = ids;
}

/* Move the query's vector toward the mean of the chosen papers (Rocchio feedback). */
static void apply_feedback(struct search *search)
{
	uint32_t dimension = engine_dimension(search->view);
	float *sum = arena_array(search->arena, dimension, sizeof(float));
	float *vector = arena_array(search->arena, dimension, sizeof(float));
	for (size_t i = 0; i < search->feedback_count; i++) {
		uint32_t doc;
		const struct view_part *at = view_find(search->view, search->feedback[i], &doc);
		const struct vectors *vectors =
			at ? view_vectors(search->view, (size_t)(at - search->view->parts)) : NULL;
		if (!vectors)
			continue;
		vectors_get(vectors, doc, vector);
		for (uint32_t d = 0; d < dimension; d++)
			sum[d] += vector[d];
	}
	if (!embedder_normalise(sum, dimension))
		return;
	for (uint32_t d = 0; d < dimension; d++)
		search->vector[d] += FUSION_FEEDBACK * sum[d];
	embedder_normalise(search->vector, dimension);
}

static int compare_places(const void *a, const void *b)
{
	const struct candidate *left = a;
	const struct candidate *right = b;
	if (left->part != right->part)
		return left->part < right->part ? -1 : 1;
	return left->doc < right->doc ? -1 : left->doc > right->doc;
}

/* Add the best documents by cosine that are not yet candidates. */
static void add_dense_candidates(struct search *search, const struct vector_query *query)
{
	struct best_hits best = best_hits_new(search->arena, search->depth);
	size_t known = search->count;
	const struct embedder *embedder = search->view->model->embedder;
	struct ivf_probes probes = {0};
	if (embedder && embedder->centroids.count > 0)
		probes = ivf_probe(&embedder->centroids, query, search->arena);
	for (size_t part = 0; part < search->view->part_count; part++) {
		const struct vectors *vectors = view_vectors(search->view, part);
		const struct ivf *ivf = search->view->parts[part].part->ivf;
		const struct doc_filter *filter = &search->retrieved[part];
		float floor = best_hits_floor(&best);
		if (!vectors || filter->below == 0)
			continue;
		best_hits_add(&best, (uint32_t)part, part_segment(search->view, part),
		              ivf ? ivf_search(ivf, vectors, &probes, query, filter, search->depth,
		                               floor, search->arena, best.of_part)
		                  : vectors_scan(vectors, query, filter, search->depth, floor,
		                                 best.of_part));
	}
	qsort(search->candidates, known, sizeof(*search->candidates), compare_places);
	for (size_t i = 0; i < best.count; i++) {
		const struct part_hit *hit = &best.hits[i];
		struct candidate place = {.part = hit->part, .doc = hit->doc};
		prefetch_candidate(search, &best, i + PREFETCH_CANDIDATES);
		if (!bsearch(&place, search->candidates, known, sizeof(place), compare_places))
			add_candidate(search, hit->part, hit->doc,
			              above_background(search, hit->score));
	}
}

static void rank_with_vectors(struct search *search)
{
	uint32_t dimension = engine_dimension(search->view);
	struct vector_query query = vector_query_make(search->vector, dimension, search->arena);
	if (search->mode != ENGINE_RERANK) {
		set_cosines(search, &query);
		choose_feedback(search);
	}
	apply_feedback(search);
	query = vector_query_make(search->vector, dimension, search->arena);
	set_cosines(search, &query);
	if (search->mode != ENGINE_RERANK)
		add_dense_candidates(search, &query);
	search->fusion = fusion_rank(search->candidates, search->count, search->scale, true);
}

/* Drop the papers that neither words nor vectors would find any more. */
static void drop_unrelated(struct search *search)
{
	while (search->count > 0 && search->candidates[search->count - 1].fused <= 0 &&
	       !search->candidates[search->count - 1].is_named)
		search->count--;
}

static void rank(struct search *search)
{
	if (search->mode != ENGINE_SEARCH)
		add_known_candidates(search);
	if (search->mode != ENGINE_RERANK)
		add_lexical_candidates(search);
	if (search->vector)
		rank_with_vectors(search);
	else
		search->fusion = fusion_rank(search->candidates, search->count, search->scale,
		                             search->has_dense);
	if (search->mode == ENGINE_REFRESH)
		drop_unrelated(search);
}

static const struct hit_explanation *explain(struct search *search, size_t at)
{
	struct ranking ranking = {search->candidates, search->count,     search->fusion,
	                          search->scale,      search->has_dense, search->parsed};
	return hit_explain(search->arena, &ranking, at,
	                   part_scorer(search, search->candidates[at].part));
}

static bool is_explained(const struct engine_query *query, size_t at, const char *id)
{
	size_t below = query->explained_below ? query->explained_below : ENGINE_MAX_RESULTS;
	return query->explains && at >= query->explained_from && at < below &&
	       (!query->explained ||
	        engine_is_listed(id, query->explained, query->explained_count));
}

static void write_hit(struct search *search, size_t at, struct engine_hit *hit)
{
	const struct candidate *candidate = &search->candidates[at];
	const struct segment_doc *doc =
		&part_segment(search->view, candidate->part)->docs[candidate->doc];
	const struct vectors *vectors = view_vectors(search->view, candidate->part);
	hit->id = arena_strdup(search->arena, candidate->id);
	hit->relevance = candidate->relevance;
	hit->words = candidate->words + candidate->pairs;
	hit->cosine = candidate->cosine;
	hit->published = doc->published;
	hit->has_container = doc->has_container;
	hit->has_vector = vectors && vectors_has(vectors, candidate->doc);
	hit->seq = doc->seq;
	hit->matched = query_words(search->parsed, candidate->matched, ENGINE_MAX_MATCHED,
	                           search->arena, &hit->matched_count);
	if (is_explained(search->query, at, hit->id))
		hit->explanation = explain(search, at);
}

static int compare_ids(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The ids that the query leaves out, in order. */
static const char **ids_left_out(const struct search *search)
{
	size_t count = search->query->left_out_count;
	const char **ids = arena_array(search->arena, count, sizeof(*ids));
	for (size_t i = 0; i < count; i++)
		ids[i] = search->query->left_out[i];
	qsort(ids, count, sizeof(*ids), compare_ids);
	return ids;
}

/* Whether a candidate that the query leaves out is needed where they are ranked again. A
 * maximum of 0 is nobody's: without vectors all have a cosine of 0. */
static bool is_needed(const struct search *search, size_t at)
{
	const struct candidate *candidate = &search->candidates[at];
	float words = candidate->words + candidate->pairs, cosine = candidate->cosine;
	return at < ENGINE_BEST || (words > 0 && words >= search->fusion.lexical_max) ||
	       (cosine > 0 && cosine >= search->fusion.cosine_max) ||
	       engine_is_listed(candidate->id, search->feedback, search->feedback_count);
}

static void write_hits(struct search *search, struct engine_result *result)
{
	const struct engine_query *query = search->query;
	const char **left_out = ids_left_out(search);
	size_t own = 0; /* those that count to the limit */
	result->hits = arena_array(search->arena,
	                           MIN_OF(search->count, query->limit + query->left_out_count),
	                           sizeof(*result->hits));
	for (size_t i = 0; i < search->count; i++) {
		const char *id = search->candidates[i].id;
		bool is_left_out = left_out && bsearch(&id, left_out, query->left_out_count,
		                                       sizeof(*left_out), compare_ids);
		if (is_left_out ? is_needed(search, i) : own < query->limit)
			write_hit(search, i, &result->hits[result->count++]);
		own += !is_left_out;
	}
}

/* Whether there are candidates, but none with all names of the query. */
static bool lacks_names(const struct search *search)
{
	for (size_t i = 0; i < search->count; i++)
		if (search->candidates[i].has_all_names)
			return false;
	return search->count > 0;
}

static void drop_candidates(struct search *search)
{
	search->names = QUERY_NAMES_UNKNOWN;
	search->count = 0;
}

/* Why the search has no hits. */
static enum engine_hint hint_of(const struct search *search)
{
	bool has_words = false;
	bool is_known = false;
	for (size_t i = 0; i < search->parsed->term_count; i++) {
		const struct query_term *term = &search->parsed->terms[i];
		has_words |= !term->is_extra;
		is_known |= vocabulary_df(search->view, term->text, term->length) > 0;
	}
	if (search->names == QUERY_NAMES_UNKNOWN)
		return ENGINE_HINT_UNKNOWN_NAME;
	if (!has_words || search->parsed->is_stop_words)
		return ENGINE_HINT_NO_WORDS;
	return is_known ? ENGINE_HINT_FILTERED : ENGINE_HINT_UNKNOWN_WORDS;
}

struct engine_result engine_search(const struct engine_view *view, const struct engine_query *query,
                                   struct arena *arena)
{
	struct engine_result result = {0};
	struct search *search = arena_new_of(arena, struct search);
	require(query->limit > 0 && query->limit <= ENGINE_MAX_RESULTS);
	require(query->candidate_count <= ENGINE_MAX_RESULTS);
	require(query->left_out_count <= ENGINE_MAX_LEFT_OUT);
	search->view = view;
	search->query = query;
	search->arena = arena;
	search->depth = depth_for(query) + query->left_out_count;
	size_t room = search->depth * 2 + query->candidate_count;
	search->candidates = arena_array(arena, room, sizeof(*search->candidates));
	prepare(search);
	if (search->names != QUERY_NAMES_UNKNOWN)
		rank(search);
	if (lacks_names(search))
		drop_candidates(search);
	result.mode = search->mode;
	result.strategy = search->has_dense ? ENGINE_HYBRID : ENGINE_LEXICAL;
	result.parsed = search->parsed;
	result.feedback = search->feedback;
	result.feedback_count = search->feedback_count;
	write_hits(search, &result);
	if (result.count == 0)
		result.hint = hint_of(search);
	return result;
}
