/* Queries with names of authors and with unknown words. */
#include "base/base.h"
#include "engine/compounds.h"
#include "engine/text/parsed_query.h"
#include "engine_fixture.h"
#include "trained.h"

/* Papers that make the topic words known and frequent. */
#define FILLERS 40

struct paper {
	const char *id, *title, *abstract;
	const char *authors[4];
};

static const struct paper papers[] = {
	{"residual",
         "Deep residual learning",
         "Residual networks are easy to train.",
         {"Kaiming He", "Xiangyu Zhang", "Jian Sun"}},
	{"masked",
         "Masked autoencoders",
         "Images are masked. He initialisation.",
         {"Kaiming He", "Xinlei Chen"}},
	{"attention",
         "Attention is all you need",
         "Attention alone.",
         {"Ashish Vaswani", "Noam Shazeer"}},
	{"other-he", "Attention of graphs", "Attention between nodes.", {"Wei He", "Kaiming Li"}},
	{"adapters", "HeBA adapters", "Heterogeneous bottleneck adapters.", {"Md Jahidul Islam"}},
	{"kernels", "Kernel methods", "Support vectors.", {"Bernhard Sch\xC3\xB6lkopf"}},
	{"song", "Song generation", "A song from its words.", {"Mei Lin"}},
	{"by-song", "Video generation", "A video from its words.", {"Yang Song"}},
	{"wolves", "The wolf cries", "A cry of the wolf.", {"Ann Other"}},
	{"by-wolf", "Tracks and cries", "A cry of tracks.", {"Lior Wolf", "Andrey Wolf"}},
	{"tides", "Tides", "", {"Ina Quill"}},
	{"currents",
         "Currents and tides of shallow coastal waters",
         "Sediment moves with currents. Measurements over many years show where harbours silt up, "
         "how channels migrate, and which dunes a storm erodes.",
         {"Nora Lund", "Ina Quill", "Max Wolf"}},
	{"names", "Naming things", "Kaiming initialisation keeps the variance.", {"Ann Example"}},
	{"cyrillic", "Sparse grids", "Grids.", {"Иван Петров"}},
	{"chinese", "Dense grids", "Grids.", {"李伟明"}},
};

struct fixture {
	struct engine *engine;
	struct engine_view *view;
	struct arena *arena;
};

static void set_up_fixture(struct fixture *fixture)
{
	struct engine_change changes[ARRAY_LEN(papers) + FILLERS] = {0};
	size_t count = 0;
	fixture->arena = arena_new();
	fixture->engine = engine_new(NULL);
	for (size_t i = 0; i < ARRAY_LEN(papers); i++) {
		struct document *document = &changes[count++].document;
		*document = (struct document){.id = papers[i].id,
		                              .title = papers[i].title,
		                              .abstract = papers[i].abstract,
		                              .authors = papers[i].authors,
		                              .seq = i + 1};
		while (papers[i].authors[document->author_count])
			document->author_count++;
	}
	static const char *const wolf[] = {"Ada Wolf"};
	for (size_t i = 0; i < FILLERS; i++)
		changes[count + i].document = (struct document){
			.authors = wolf,
			.author_count = 1,
			.id = arena_printf(fixture->arena, "filler%zu", i),
			.title = i % 2 ? "Cross and lingual image segmentation"
		                       : "Song and speech language model generation",
			.abstract = i >= FILLERS - 4 ? "Near a wolf" : "",
			.seq = count + i + 1,
		};
	count += FILLERS;
	engine_apply(fixture->engine, changes, count, count);
	fixture->view = engine_view_get(fixture->engine);
}

static int set_up(void **state)
{
	static struct fixture fixture;
	set_up_fixture(&fixture);
	*state = &fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	engine_view_put(fixture->view);
	engine_free(fixture->engine);
	arena_free(fixture->arena);
	return 0;
}

/* The ids of the result with a space after each, or its hint. */
static const char *answer(const struct fixture *fixture, const struct engine_view *view,
                          const char *text, size_t limit)
{
	struct engine_result result = search_view(fixture->arena, view, text, limit);
	struct buf out = {.arena = fixture->arena};
	if (result.count == 0)
		return engine_hint_name(result.hint);
	assert_int_equal(result.hint, ENGINE_HINT_NONE);
	for (size_t i = 0; i < result.count; i++)
		buf_printf(&out, "%s ", result.hits[i].id);
	return out.data;
}

static void an_author_finds_the_papers(void **state)
{
	static const char *const queries[] = {"Kaiming He", "kaiming he", "He, Kaiming", "He, K.",
	                                      "K. He",      "HE K",       "He Kaiming"};
	const struct fixture *fixture = *state;
	for (size_t i = 0; i < ARRAY_LEN(queries); i++)
		assert_string_equal(answer(fixture, fixture->view, queries[i], 10),
		                    "masked residual ");
	assert_string_equal(answer(fixture, fixture->view, "He graphs", 1), "other-he ");
	assert_string_equal(answer(fixture, fixture->view, "Scholkopf", 10), "kernels ");
	assert_string_equal(answer(fixture, fixture->view, "SCH\xC3\x96LKOPF", 10), "kernels ");
	assert_string_equal(answer(fixture, fixture->view, "schoelkopf", 10), "kernels ");
}

static void an_author_goes_with_words(void **state)
{
	const struct fixture *fixture = *state;
	assert_string_equal(answer(fixture, fixture->view, "Vaswani attention", 1), "attention ");
	assert_string_equal(answer(fixture, fixture->view, "attention by Wei He", 1), "other-he ");
	assert_string_equal(answer(fixture, fixture->view, "shazeer vaswani", 10), "attention ");
	assert_string_equal(answer(fixture, fixture->view, "Kaiming He residual", 1), "residual ");
}

static void a_topic_is_not_taken_for_an_author(void **state)
{
	const struct fixture *fixture = *state;
	assert_string_equal(answer(fixture, fixture->view, "song generation", 1), "song ");
	assert_string_equal(answer(fixture, fixture->view, "he trained residual networks", 1),
	                    "residual ");
	struct engine_result result =
		search_view(fixture->arena, fixture->view, "song generation", 10);
	assert_false(result.parsed->has_names);
}

/* "Wolf" is the name of many, and a word of a few texts: without a capital it is that word. */
static void a_word_without_a_capital_is_that_word(void **state)
{
	const struct fixture *fixture = *state;
	assert_string_equal(answer(fixture, fixture->view, "wolf cry", 1), "wolves ");
	assert_string_equal(answer(fixture, fixture->view, "Wolf tracks", 1), "by-wolf ");
	struct engine_query query = {.text = "Wolf", .length = 4, .limit = 1, .is_topic = true};
	struct engine_result result = engine_search(fixture->view, &query, fixture->arena);
	assert_false(result.parsed->has_names);
}

/* The best paper for the text of an interest. */
static const char *best_for_topic(const struct fixture *fixture, const char *text)
{
	struct engine_query query = {.text = text,
	                             .length = strlen(text),
	                             .limit = 1,
	                             .is_topic = true};
	struct engine_result result = engine_search(fixture->view, &query, fixture->arena);
	return result.count > 0 ? result.hits[0].id : "";
}

static void a_topic_mentions_authors_by_whole_names(void **state)
{
	static const char *const long_text =
		"Everything new in the field of machine learning and of statistics, as long as it "
		"was written in this year or in the last one by Kaiming Li and his colleagues";
	const struct fixture *fixture = *state;
	assert_string_equal(best_for_topic(fixture, "Papers by Kaiming Li"), "other-he");
	assert_string_equal(best_for_topic(fixture, "Papers by Kaiming Li, with graphs"),
	                    "other-he");
	assert_string_equal(best_for_topic(fixture, "Kaiming. He names things"), "names");
	assert_string_equal(best_for_topic(fixture, "kaiming he variance"), "names");
	assert_string_equal(best_for_topic(fixture, long_text), "other-he");
	assert_string_equal(best_for_topic(fixture, "A Wolf cries"), "wolves");
}

static float first_relevance(const struct fixture *fixture, const char *text, bool is_topic)
{
	struct engine_query query = {.text = text,
	                             .length = strlen(text),
	                             .limit = 1,
	                             .is_topic = is_topic};
	struct engine_result result = engine_search(fixture->view, &query, fixture->arena);
	assert_int_equal(result.count, 1);
	return result.hits[0].relevance;
}

/* They are no words in another script of which a paper is asked only some. */
static void names_in_another_script_are_names(void **state)
{
	const struct fixture *fixture = *state;
	float latin = first_relevance(fixture, "Bernhard Sch\xC3\xB6lkopf", false);
	float latin_topic = first_relevance(fixture, "Ballet, Bernhard Sch\xC3\xB6lkopf", true);
	assert_string_equal(answer(fixture, fixture->view, "Петров", 10), "cyrillic ");
	assert_string_equal(answer(fixture, fixture->view, "Иван Петров", 10), "cyrillic ");
	assert_string_equal(answer(fixture, fixture->view, "李伟明", 10), "chinese ");
	assert_float_equal(first_relevance(fixture, "Иван Петров", false), latin, 0.05f);
	assert_float_equal(first_relevance(fixture, "Ballet, Иван Петров", true), latin_topic,
	                   0.05f);
}

static void a_name_that_nobody_bears_finds_nothing(void **state)
{
	static const char *const queries[] = {"Kaiming Vaswani", "Vaswani, B.", "Zorblax, Q.",
	                                      "Ashish Quindle"};
	const struct fixture *fixture = *state;
	for (size_t i = 0; i < ARRAY_LEN(queries); i++)
		assert_string_equal(answer(fixture, fixture->view, queries[i], 10), "unknown_name");
	assert_string_equal(answer(fixture, fixture->view, "Zorblax Quindle", 10), "unknown_words");
}

/* "Quill" is rare and "Wolf" frequent: a short paper by Quill alone has the greater score. */
static void two_authors_find_the_paper_of_both(void **state)
{
	static const char *const queries[] = {"Quill Wolf", "Wolf Quill", "Lund Quill Wolf"};
	const struct fixture *fixture = *state;
	for (size_t i = 0; i < ARRAY_LEN(queries); i++) {
		struct engine_result result =
			search_view(fixture->arena, fixture->view, queries[i], 10);
		assert_true(result.count >= 2);
		assert_string_equal(result.hits[0].id, "currents");
		for (size_t j = 1; j < result.count; j++)
			assert_true(result.hits[j].relevance <= result.hits[j - 1].relevance);
	}
}

/* Vectors know nothing of names, so the query is not embedded. */
static void an_unknown_name_is_searched_by_words_alone(void **state)
{
	struct fixture fixture;
	(void)state;
	set_up_fixture(&fixture);
	engine_view_put(fixture.view);
	train(fixture.engine);
	fixture.view = engine_view_get(fixture.engine);
	struct engine_result result =
		search_view(fixture.arena, fixture.view, "song generation", 10);
	assert_int_equal(result.strategy, ENGINE_HYBRID);
	result = search_view(fixture.arena, fixture.view, "Vaswani, B.", 10);
	assert_int_equal(result.hint, ENGINE_HINT_UNKNOWN_NAME);
	assert_int_equal(result.strategy, ENGINE_LEXICAL);
	assert_true(result.parsed->has_names);
	void *done = &fixture;
	tear_down(&done);
}

static const char *matched_words(const struct fixture *fixture, const char *text)
{
	struct engine_result result = search_view(fixture->arena, fixture->view, text, 1);
	struct buf out = {.arena = fixture->arena};
	assert_int_equal(result.count, 1);
	for (size_t i = 0; i < result.hits[0].matched_count; i++)
		buf_printf(&out, "%s|", result.hits[0].matched[i]);
	return out.data;
}

static void a_name_is_listed_once(void **state)
{
	const struct fixture *fixture = *state;
	assert_string_equal(matched_words(fixture, "Kaiming He initialisation"),
	                    "Kaiming He|initialisation|");
	assert_string_equal(matched_words(fixture, "Wolf near speech"), "near|speech|Wolf|");
}

static void capitals_are_still_corrected(void **state)
{
	const struct fixture *fixture = *state;
	assert_string_equal(answer(fixture, fixture->view, "Lingaul Crsos", 1), "filler1 ");
}

static void an_empty_answer_says_why(void **state)
{
	const struct fixture *fixture = *state;
	struct engine_query query = {.text = "attention", .length = 9, .limit = 5};
	const char *categories[] = {"math"};
	query.filter.categories = categories;
	query.filter.category_count = 1;
	struct engine_result result = engine_search(fixture->view, &query, fixture->arena);
	assert_int_equal(result.hint, ENGINE_HINT_FILTERED);
	assert_string_equal(answer(fixture, fixture->view, "the", 5), "no_words");
	assert_string_equal(answer(fixture, fixture->view, "?!", 5), "no_words");
	assert_string_equal(answer(fixture, fixture->view, "Donaudampfschifffahrtsgesellschaft", 5),
	                    "unknown_words");
}

static void compounds_are_split_where_their_parts_are_known(void **state)
{
	const struct fixture *fixture = *state;
	assert_string_equal(answer(fixture, fixture->view, "crosslingual", 1), "filler1 ");
	assert_string_equal(answer(fixture, fixture->view, "Imagesegmentation", 1), "filler1 ");
	assert_string_equal(answer(fixture, fixture->view, "languagemodelgeneration", 1),
	                    "filler0 ");
	assert_string_equal(answer(fixture, fixture->view, "crosslingo", 1), "unknown_words");
}

/* A query of COMPOUND_QUERY_WORDS words, and one with one more. */
static void compounds_of_long_queries_are_kept(void **state)
{
	const struct fixture *fixture = *state;
	struct buf text = {.arena = fixture->arena};
	buf_puts(&text, "crosslingual");
	for (int i = 1; i < COMPOUND_QUERY_WORDS; i++)
		buf_puts(&text, " qqxx");
	assert_string_equal(answer(fixture, fixture->view, text.data, 1), "filler1 ");
	buf_puts(&text, " qqxx");
	assert_string_equal(answer(fixture, fixture->view, text.data, 1), "unknown_words");
}

static void names_survive_merges_and_deaths(void **state)
{
	struct fixture *fixture = *state;
	static const char *const nobody[1];
	merge(fixture->engine);
	struct engine_view *view = engine_view_get(fixture->engine);
	assert_string_equal(answer(fixture, view, "Kaiming He", 10), "masked residual ");
	engine_view_put(view);
	struct engine_change changes[] = {
		{.document = {.id = "masked",
	                      .title = "Masked autoencoders",
	                      .abstract = "",
	                      .authors = nobody,
	                      .seq = 1000}},
	};
	engine_apply(fixture->engine, changes, 1, 1000);
	view = engine_view_get(fixture->engine);
	assert_string_equal(answer(fixture, view, "Kaiming He", 10), "residual ");
	assert_string_equal(answer(fixture, view, "Xinlei Chen", 10), "unknown_words");
	engine_view_put(view);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_author_finds_the_papers),
		cmocka_unit_test(an_author_goes_with_words),
		cmocka_unit_test(a_topic_is_not_taken_for_an_author),
		cmocka_unit_test(a_word_without_a_capital_is_that_word),
		cmocka_unit_test(a_topic_mentions_authors_by_whole_names),
		cmocka_unit_test(names_in_another_script_are_names),
		cmocka_unit_test(a_name_that_nobody_bears_finds_nothing),
		cmocka_unit_test(two_authors_find_the_paper_of_both),
		cmocka_unit_test(an_unknown_name_is_searched_by_words_alone),
		cmocka_unit_test(a_name_is_listed_once),
		cmocka_unit_test(capitals_are_still_corrected),
		cmocka_unit_test(an_empty_answer_says_why),
		cmocka_unit_test(compounds_are_split_where_their_parts_are_known),
		cmocka_unit_test(compounds_of_long_queries_are_kept),
		cmocka_unit_test(names_survive_merges_and_deaths),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
