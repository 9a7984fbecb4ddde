/* Relevance: what it must not depend on. */
#include "engine/engine.h"
#include "generated.h"

static float first_relevance(struct arena *arena, const struct engine_view *view, const char *text)
{
	return search_view(arena, view, text, 1).hits[0].relevance;
}

/* The cosine with a query of which the embedder knows one word says little, be it near 1. */
static void test_a_cosine_of_few_words_hardly_counts(void **state)
{
	struct engine *engine = engine_new(NULL);
	struct arena *arena = arena_new();
	const char *word = sample_word(arena, 0); /* the commonest */
	(void)state;
	load_generated(engine, 400);
	struct engine_view *view = engine_view_get(engine);
	const char *text = arena_printf(arena,
	                                "%s historias clinicas hospitales pacientes notas "
	                                "informes",
	                                word);
	struct engine_result result = search_view(arena, view, text, 1);
	assert_true(result.hits[0].cosine > 0.7f);
	assert_true(result.hits[0].relevance < 0.25f);
	engine_view_put(view);
	arena_free(arena);
	engine_free(engine);
}

/* What a text in another script has in common with the papers counts, however long it is. */
static void test_words_of_another_script_lower_the_relevance_a_little(void **state)
{
	struct engine *engine = engine_new(NULL);
	struct arena *arena = arena_new();
	const char *word = sample_word(arena, 250);
	(void)state;
	load_generated(engine, 400);
	struct engine_view *view = engine_view_get(engine);
	float alone = first_relevance(arena, view, word);
	float some = first_relevance(arena, view, arena_printf(arena, "幻觉 %s", word));
	float many = first_relevance(arena, view,
	                             arena_printf(arena, "我们关注大语言模型的幻觉问题幻觉检测 %s",
	                                          word));
	assert_true(some < alone * 0.8f && many > some * 0.9f);
	engine_view_put(view);
	arena_free(arena);
	engine_free(engine);
}

/* The relevance of a paper for words of it and words that others have, in a corpus of `count`
 * papers. */
static float relevance_in(uint32_t count)
{
	struct engine *engine = engine_new(NULL);
	struct arena *arena = arena_new();
	const char *text =
		arena_printf(arena, "%s %s %s %s", sample_word(arena, 290), sample_word(arena, 291),
	                     sample_word(arena, 295), sample_word(arena, 296));
	load_generated(engine, count);
	struct engine_change change = {.document = {.id = "x",
	                                            .title = sample_word(arena, 290),
	                                            .abstract = sample_word(arena, 291),
	                                            .seq = count + 1}};
	engine_apply(engine, &change, 1, count + 1);
	struct engine_view *view = engine_view_get(engine);
	struct engine_result result = search_view(arena, view, text, 1);
	assert_string_equal(result.hits[0].id, "x");
	float relevance = result.hits[0].relevance;
	engine_view_put(view);
	arena_free(arena);
	engine_free(engine);
	return relevance;
}

static void test_relevance_depends_little_on_the_size_of_the_corpus(void **state)
{
	static const uint32_t sizes[] = {15, 60, 400, 2000};
	float least = 1;
	float greatest = 0;
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		float relevance = relevance_in(sizes[i]);
		least = MIN_OF(least, relevance);
		greatest = MAX_OF(greatest, relevance);
	}
	assert_true(greatest - least < 0.1f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_cosine_of_few_words_hardly_counts),
		cmocka_unit_test(test_words_of_another_script_lower_the_relevance_a_little),
		cmocka_unit_test(test_relevance_depends_little_on_the_size_of_the_corpus),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
