#include "preference/bag.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
	struct arena *arena;
	struct word_splitter *splitter;
};

static int set_up(void **state)
{
	struct arena *arena = arena_new();
	struct fixture *fixture = arena_new_of(arena, struct fixture);
	fixture->arena = arena;
	fixture->splitter = word_splitter_new(arena);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	arena_free(((struct fixture *)*state)->arena);
	return 0;
}

static struct bag *bag_of(struct fixture *fixture, const char *title, const char *abstract)
{
	struct paper_text paper = {.title = title, .abstract = abstract};
	return bag_new(fixture->arena, fixture->splitter, &paper);
}

static float occurrences_of(const struct bag *bag, const char *stem)
{
	uint32_t id = term_id(stem, strlen(stem));
	for (size_t i = 0; i < bag->count; i++)
		if (bag->terms[i].id == id)
			return bag->terms[i].occurrences;
	return 0;
}

static void test_words_of_the_title_count_more(void **state)
{
	struct bag *bag = bag_of(*state, "Ranking", "ranked words and ranking of words");
	/* Both words occur twice in the abstract. */
	assert_true(occurrences_of(bag, "word") == 2);
	assert_true(occurrences_of(bag, "rank") > 3);
	for (size_t i = 1; i < bag->count; i++)
		assert_true(bag->terms[i - 1].id < bag->terms[i].id);
}

static void test_categories_are_terms(void **state)
{
	struct fixture *fixture = *state;
	static const char *const categories[] = {
		"cs.IR",
		"a-category-name-that-is-very-much-longer-than-any-that-there-is-in-arxiv"};
	struct paper_text paper = {.categories = categories, .category_count = 2};
	struct bag *bag = bag_new(fixture->arena, fixture->splitter, &paper);
	assert_int_equal(bag->count, 2);
	assert_true(occurrences_of(bag, "category:cs.IR") > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_words_of_the_title_count_more, set_up,
	                                        tear_down),
		cmocka_unit_test_setup_teardown(test_categories_are_terms, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
