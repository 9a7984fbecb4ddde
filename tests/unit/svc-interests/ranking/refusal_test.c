#include "ranking/refusal.h"

#include "base/base.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static double measure(const char *context, const char *title, const char *abstract)
{
	struct arena *arena = arena_new();
	struct word_splitter *splitter = word_splitter_new(arena);
	struct interest interest = {.name = "Name", .context = context};
	struct paper paper = {.text = {.title = title, .abstract = abstract}};
	paper.bag = bag_new(arena, splitter, &paper.text);
	double found = refusal_of(refusal_new(arena, splitter, &interest), &paper);
	arena_free(arena);
	return found;
}

static void test_refused_things_are_found(void **state)
{
	(void)state;
	static const char video[] = "Segmentation, no video generation please";
	assert_true(measure("Segmentation", "Video generation", NULL) == 0);
	assert_true(measure(video, "Generating videos", "A video of one generation") == 0);
	assert_true(measure(video, "Segmentation for Video Generation", NULL) == 1);
	double once = measure(video, "Segmentation", "It helps video generation.");
	double thrice = measure(video, "Segmentation",
	                        "Video generation: video generation by video generation.");
	assert_true(once > 0 && once < 0.5);
	assert_true(thrice == 1);
}

static void test_what_a_paper_denies_is_not_in_it(void **state)
{
	(void)state;
	static const char context[] = "Segmentation without labels";
	assert_true(measure(context, "Segmentation with labels", NULL) == 1);
	assert_true(measure(context, "Segmentation without any labels", NULL) == 0);
	assert_true(measure(context, "Label-free segmentation", "No labels are needed.") == 0);
}

static void test_words_of_the_topic_are_not_refused(void **state)
{
	(void)state;
	assert_true(measure("Retrieval of code. No code please.", "Code retrieval", NULL) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused_things_are_found),
		cmocka_unit_test(test_what_a_paper_denies_is_not_in_it),
		cmocka_unit_test(test_words_of_the_topic_are_not_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
