/* The explanation of a hit: its parts make the relevance that the search answers. */
#include "engine/hit_explanation.h"

#include "corpus.h"
#include "engine_fixture.h"
#include "trained.h"

#include <math.h>

#define PAPERS 600
#define WORDS  200
#define ROUNDS 60

static struct engine *engine;

static int set_up(void **state)
{
	struct arena *arena = arena_new();
	struct random_source noise = {7};
	struct engine_change *changes = arena_array(arena, PAPERS, sizeof(*changes));
	static const char *const authors[] = {"Kaiming Zhuq"};
	(void)state;
	for (uint32_t i = 0; i < PAPERS; i++) {
		changes[i].document = sample_document(arena, &noise, i, WORDS);
		changes[i].document.seq = i + 1;
		changes[i].document.authors = authors;
		changes[i].document.author_count = i % 50 == 0;
	}
	changes[3].document.id = "2205.14135";
	engine = engine_new(NULL);
	for (size_t at = 0; at < PAPERS; at += 200) /* several parts */
		engine_apply(engine, changes + at, 200, at + 200);
	train(engine);
	arena_free(arena);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	engine_free(engine);
	return 0;
}

static struct engine_result search(struct arena *arena, const struct engine_view *view,
                                   const char *text, bool explains)
{
	struct engine_query query = {.text = text,
	                             .length = strlen(text),
	                             .limit = 60,
	                             .explains = explains};
	return engine_search(view, &query, arena);
}

static bool is_near(double one, double other)
{
	return fabs(one - other) <= 1e-5 * fmax(1, fabs(other));
}

/* The words' score is the sum of the terms, theirs the sum of the fields, that of the pairs of the
 * pairs. */
static void assert_lexical(const struct hit_explanation *explanation)
{
	double words = 0, pairs = 0;
	for (size_t i = 0; i < explanation->term_count; i++) {
		const struct explained_term *term = &explanation->terms[i];
		double fields = 0;
		for (int field = 0; field < PAPER_FIELDS; field++)
			fields += term->score.fields[field];
		assert_true(term->score.score > 0 && is_near(fields, term->score.score));
		assert_true(i == 0 || term->score.score <= term[-1].score.score);
		words += term->score.score;
	}
	for (size_t i = 0; i < explanation->pair_count; i++)
		pairs += explanation->pairs_found[i].score;
	assert_true(is_near(words, explanation->words));
	assert_true(is_near(pairs, explanation->pairs));
}

static double quotient(double part, double greatest)
{
	return greatest > 0 ? fmax(part, 0) / greatest : 0;
}

/* Recompute the relevance from the parts. */
static void assert_relevance(const struct engine_hit *hit)
{
	const struct hit_explanation *explanation = hit->explanation;
	double lexical =
		quotient(explanation->words + explanation->pairs, explanation->fusion.lexical_max);
	double dense = quotient(explanation->cosine, explanation->fusion.cosine_max);
	double fused = lexical + explanation->fusion.dense_weight * dense;
	double relevance =
		fmin(fused * explanation->fusion.relevance_factor, explanation->relevance_limit);
	assert_true(is_near(fused, explanation->fused));
	assert_true(is_near(explanation->is_named ? 1 : relevance, hit->relevance));
	assert_true(explanation->has_dense || explanation->fusion.dense_weight == 0);
}

/* The relevance of the first hit from which the factor is made. */
static void assert_factor(const struct engine_hit *hit)
{
	const struct hit_explanation *explanation = hit->explanation;
	double covered = fmin(explanation->smoothed / explanation->scale.full_score, 1);
	double cosine = fmin(fmax(explanation->cosine, 0), 1);
	double weight = explanation->scale.cosine_weight;
	double top = (1 - weight) * covered + weight * cosine;
	assert_true(explanation->has_dense || weight == 0);
	assert_true(is_near(top, explanation->fused * explanation->fusion.relevance_factor));
}

static void assert_same_hits(const struct engine_result *plain,
                             const struct engine_result *explained)
{
	assert_int_equal(plain->count, explained->count);
	for (size_t i = 0; i < plain->count; i++) {
		assert_null(plain->hits[i].explanation);
		assert_string_equal(plain->hits[i].id, explained->hits[i].id);
		assert_true(plain->hits[i].relevance == explained->hits[i].relevance);
	}
}

/* The hits with all numbers of their explanations, but for the ranks, which count fewer papers. */
static void assert_ranked_alike(struct arena *arena, const struct engine_view *view,
                                const char *text, const struct engine_result *found)
{
	const char **ids = arena_array(arena, found->count + 1, sizeof(*ids));
	for (size_t i = 0; i < found->count; i++)
		ids[i] = found->hits[found->count - 1 - i].id;
	struct engine_query query = {.text = text,
	                             .length = strlen(text),
	                             .limit = 60,
	                             .explains = true,
	                             .mode = ENGINE_RERANK,
	                             .candidates = ids,
	                             .candidate_count = found->count,
	                             .feedback = found->feedback,
	                             .feedback_count = found->feedback_count};
	struct engine_result again = engine_search(view, &query, arena);
	assert_int_equal(again.count, found->count);
	for (size_t i = 0; i < found->count; i++) {
		const struct hit_explanation *one = found->hits[i].explanation;
		const struct hit_explanation *other = again.hits[i].explanation;
		assert_string_equal(again.hits[i].id, found->hits[i].id);
		assert_true(again.hits[i].relevance == found->hits[i].relevance);
		assert_memory_equal(&one->fusion, &other->fusion, sizeof(one->fusion));
		assert_true(one->cosine == other->cosine && one->fused == other->fused);
		assert_int_equal(one->term_count, other->term_count);
	}
}

static void assert_explained(const char *text)
{
	struct arena *arena = arena_new();
	struct engine_view *view = engine_view_get(engine);
	struct engine_result plain = search(arena, view, text, false);
	struct engine_result explained = search(arena, view, text, true);
	assert_same_hits(&plain, &explained);
	assert_ranked_alike(arena, view, text, &explained);
	for (size_t i = 0; i < explained.count; i++) {
		assert_lexical(explained.hits[i].explanation);
		assert_relevance(&explained.hits[i]);
	}
	if (explained.count > 0 && !explained.hits[0].explanation->is_named)
		assert_factor(&explained.hits[0]);
	engine_view_put(view);
	arena_free(arena);
}

static void test_the_parts_make_the_relevance(void **state)
{
	struct arena *arena = arena_new();
	struct random_source noise = {8};
	(void)state;
	for (int round = 0; round < ROUNDS; round++)
		assert_explained(sample_text(arena, &noise, 1 + round % 12, WORDS));
	assert_explained("2205.14135 zbq zcq");
	assert_explained("Kaiming Zhuq");
	assert_explained("Zhuq zbq");
	arena_free(arena);
}

static const struct explained_term *find_term(const struct hit_explanation *explanation,
                                              const char *text)
{
	for (size_t i = 0; i < explanation->term_count; i++)
		if (strcmp(explanation->terms[i].text, text) == 0)
			return &explanation->terms[i];
	return NULL;
}

static void test_terms_name_their_fields(void **state)
{
	struct arena *arena = arena_new();
	struct engine *small = engine_new(NULL);
	static const char *const authors[] = {"Ann Retriever"};
	struct engine_change change = {.document = {.id = "a",
	                                            .title = "Retrieval models",
	                                            .abstract = "Retrieval of text.",
	                                            .authors = authors,
	                                            .author_count = 1,
	                                            .seq = 1}};
	(void)state;
	engine_apply(small, &change, 1, 1);
	struct engine_view *view = engine_view_get(small);
	struct engine_result words = search(arena, view, "text retrieval models", true);
	const struct hit_explanation *explanation = words.hits[0].explanation;
	const float *fields = find_term(explanation, "retriev")->score.fields;
	assert_true(is_near(fields[PAPER_TITLE], 2 * fields[PAPER_ABSTRACT]));
	assert_true(fields[PAPER_AUTHORS] == 0);
	fields = find_term(explanation, "text")->score.fields;
	assert_true(fields[PAPER_ABSTRACT] > 0 && fields[PAPER_TITLE] == 0);
	assert_string_equal(find_term(explanation, "model")->word, "models");
	assert_int_equal(explanation->lexical_rank, 1);
	assert_int_equal(explanation->pair_count, 2); /* one of them reversed */
	struct engine_result named = search(arena, view, "Ann Retriever", true);
	const struct explained_term *name = &named.hits[0].explanation->terms[0];
	assert_true(name->score.fields[PAPER_AUTHORS] == name->score.score);
	engine_view_put(view);
	engine_free(small);
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_parts_make_the_relevance),
		cmocka_unit_test(test_terms_name_their_fields),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
