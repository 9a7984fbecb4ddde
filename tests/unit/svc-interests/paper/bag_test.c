#include "paper/bag.h"

#include "bag_fixture.h"

#include <string.h>

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
	(void)state;
	struct bag *bag = bag_of("Ranking", "ranked words and ranking of words");
	/* Both words occur twice in the abstract. */
	assert_true(occurrences_of(bag, "word") == 2);
	assert_true(occurrences_of(bag, "rank") > 3);
	for (size_t i = 1; i < bag->count; i++)
		assert_true(bag->terms[i - 1].id < bag->terms[i].id);
}

static void test_categories_are_terms(void **state)
{
	(void)state;
	static const char *const categories[] = {
		"cs.IR",
		"a-category-name-that-is-very-much-longer-than-any-that-there-is-in-arxiv"};
	struct paper_text paper = {.categories = categories, .category_count = 2};
	struct bag *bag = bag_of_paper(&paper);
	assert_int_equal(bag->count, 2);
	assert_true(occurrences_of(bag, "category:cs.IR") > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARENA_TEST(test_words_of_the_title_count_more),
		ARENA_TEST(test_categories_are_terms),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
