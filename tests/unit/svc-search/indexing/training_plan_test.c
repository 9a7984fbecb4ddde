#include "indexing/training_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define WEEK_MS UINT64_C(604800000)

/* The plan in a simulated time. */
struct world {
	struct training_plan plan;
	struct embedder_state state;
	uint64_t index_change;
	uint64_t now_ms;
};

static enum training_step step(struct world *world, uint64_t ms)
{
	world->now_ms += ms;
	world->state.age_ms += ms;
	return training_plan_step(&world->plan, &world->state, world->index_change, WEEK_MS,
	                          world->now_ms);
}

/* Papers were added or deleted, and the index has them. */
static void resize(struct world *world, uint32_t papers)
{
	world->state.papers = papers;
	world->index_change = ++world->state.change;
}

/* A version was trained on the present corpus, or found right for it. */
static void check(struct world *world)
{
	snprintf(world->state.version, sizeof(world->state.version), "v");
	world->state.checked_papers = world->state.papers;
	world->state.checked_change = world->state.change;
	world->state.age_ms = 0;
	world->state.recipe = TRAINING_RECIPE;
}

static void test_the_first_version_needs_some_papers_at_rest(void **state)
{
	struct world world = {.now_ms = 5};
	(void)state;
	assert_int_equal(step(&world, 0), TRAINING_NOT_DUE);
	resize(&world, TRAINING_MIN_DOCS - 1);
	assert_int_equal(step(&world, TRAINING_REST_MS), TRAINING_NOT_DUE);
	resize(&world, TRAINING_MIN_DOCS);
	assert_int_equal(step(&world, 500), TRAINING_WAIT);
	assert_int_equal(step(&world, TRAINING_REST_MS - 1), TRAINING_WAIT);
	assert_int_equal(step(&world, 1), TRAINING_NOW);
	check(&world);
	assert_int_equal(step(&world, 1), TRAINING_NOT_DUE);
}

static void test_a_version_by_an_older_recipe_is_replaced(void **state)
{
	struct world world = {.now_ms = 5};
	(void)state;
	resize(&world, 100);
	check(&world);
	assert_int_equal(step(&world, TRAINING_REST_MS), TRAINING_NOT_DUE);
	world.state.recipe = TRAINING_RECIPE - 1;
	assert_int_equal(step(&world, TRAINING_REST_MS), TRAINING_NOW);
	world.plan.tried_change = world.state.change; /* it gave none */
	assert_int_equal(step(&world, TRAINING_REST_MS), TRAINING_NOT_DUE);
	resize(&world, TRAINING_MIN_DOCS - 1);
	assert_int_equal(step(&world, TRAINING_REST_MS), TRAINING_NOT_DUE);
	check(&world);
	resize(&world, TRAINING_MIN_DOCS);
	assert_int_equal(step(&world, TRAINING_REST_MS), TRAINING_NOT_DUE);
}

static void test_growth_and_shrinkage_make_a_version_due(void **state)
{
	struct world world = {.now_ms = 5};
	(void)state;
	resize(&world, 100);
	check(&world);
	resize(&world, 149);
	assert_int_equal(step(&world, TRAINING_REST_MS), TRAINING_NOT_DUE);
	resize(&world, 150);
	assert_int_equal(step(&world, 0), TRAINING_WAIT);
	assert_int_equal(step(&world, TRAINING_REST_MS), TRAINING_NOW);
	check(&world);
	resize(&world, 101);
	assert_int_equal(step(&world, TRAINING_REST_MS), TRAINING_NOT_DUE);
	resize(&world, 100);
	step(&world, 0);
	assert_int_equal(step(&world, TRAINING_REST_MS), TRAINING_NOW);
	check(&world);
	resize(&world, TRAINING_MIN_DOCS - 1);
	step(&world, 0);
	assert_int_equal(step(&world, TRAINING_REST_MS), TRAINING_NOT_DUE);
}

static void test_an_old_version_is_due_when_papers_have_changed(void **state)
{
	struct world world = {.now_ms = 5};
	(void)state;
	resize(&world, 100);
	check(&world);
	assert_int_equal(step(&world, 2 * WEEK_MS), TRAINING_NOT_DUE);
	resize(&world, 101);
	assert_int_equal(step(&world, 0), TRAINING_WAIT);
	assert_int_equal(step(&world, TRAINING_REST_MS), TRAINING_NOW);
	check(&world);
	resize(&world, 102);
	assert_int_equal(step(&world, WEEK_MS - 1), TRAINING_NOT_DUE);
	assert_int_equal(step(&world, TRAINING_REST_MS), TRAINING_NOW);
}

static void test_training_waits_for_the_index(void **state)
{
	struct world world = {.now_ms = 5};
	(void)state;
	world.state.papers = 100;
	world.state.change = 100;
	world.index_change = 99;
	assert_int_equal(step(&world, 0), TRAINING_WAIT);
	assert_int_equal(step(&world, 2 * TRAINING_REST_MS), TRAINING_WAIT);
	assert_int_equal(step(&world, TRAINING_PATIENCE_MS), TRAINING_WAIT);
	assert_int_equal(step(&world, TRAINING_IMPORT_PATIENCE_MS), TRAINING_WAIT);
	world.index_change = 100;
	assert_int_equal(step(&world, 0), TRAINING_NOW);
}

/* Papers change all the time, so the index never has all changes. */
static void test_training_waits_for_the_changes_before_a_version_was_due(void **state)
{
	struct world world = {.now_ms = 5};
	(void)state;
	world.state.papers = 100;
	world.state.change = 100;
	assert_int_equal(step(&world, 0), TRAINING_WAIT);
	world.state.change = 200;
	world.index_change = 99;
	assert_int_equal(step(&world, TRAINING_PATIENCE_MS), TRAINING_WAIT);
	world.state.change = 300;
	world.index_change = 100;
	assert_int_equal(step(&world, 500), TRAINING_NOW);
}

/* During an import a version was trained on the part of it that the index had. */
static void test_a_version_that_is_due_again_waits_again(void **state)
{
	struct world world = {.now_ms = 5};
	(void)state;
	resize(&world, 1000);
	step(&world, 0);
	world.state.papers = 9000;
	world.state.change += 8000;
	assert_int_equal(step(&world, TRAINING_IMPORT_PATIENCE_MS), TRAINING_NOW);
	check(&world);
	world.state.checked_papers = 1000;
	world.state.checked_change = world.index_change;
	assert_int_equal(step(&world, 500), TRAINING_WAIT);
	assert_int_equal(step(&world, TRAINING_IMPORT_PATIENCE_MS), TRAINING_WAIT);
	world.index_change = world.state.change;
	assert_int_equal(step(&world, TRAINING_REST_MS), TRAINING_NOW);
}

static void test_changes_without_an_end_delay_training_for_a_limited_time(void **state)
{
	struct world world = {.now_ms = 5};
	uint64_t waited_ms = 0;
	(void)state;
	do {
		resize(&world, 100);
		waited_ms += 500;
	} while (step(&world, 500) == TRAINING_WAIT);
	assert_int_equal(waited_ms, TRAINING_PATIENCE_MS + 500);
}

/* Milliseconds until training begins in a corpus of 10,000 papers that grows by `papers` every half
 * second. */
static uint64_t wait_while_growing(uint32_t papers, uint64_t growing_ms)
{
	struct world world = {.now_ms = 5};
	uint64_t waited_ms = 0;
	resize(&world, 10000);
	while (step(&world, 500) == TRAINING_WAIT) {
		waited_ms += 500;
		if (waited_ms < growing_ms)
			resize(&world, world.state.papers + papers);
	}
	return waited_ms;
}

static void test_training_waits_for_the_end_of_an_import(void **state)
{
	(void)state;
	assert_int_equal(wait_while_growing(1000, 600000), 600000 + TRAINING_REST_MS - 500);
	assert_int_equal(wait_while_growing(100000, UINT64_MAX), TRAINING_IMPORT_PATIENCE_MS);
}

static void test_training_does_not_wait_for_slow_growth(void **state)
{
	(void)state;
	assert_int_equal(wait_while_growing(1, UINT64_MAX), TRAINING_PATIENCE_MS);
}

static void test_a_corpus_that_gave_none_is_not_tried_again(void **state)
{
	struct world world = {.now_ms = 5};
	(void)state;
	resize(&world, 100);
	step(&world, 0);
	assert_int_equal(step(&world, TRAINING_REST_MS), TRAINING_NOW);
	world.plan.tried_change = world.state.change;
	assert_int_equal(step(&world, TRAINING_REST_MS), TRAINING_NOT_DUE);
	resize(&world, 101);
	assert_int_equal(step(&world, 0), TRAINING_WAIT);
	assert_int_equal(step(&world, TRAINING_REST_MS), TRAINING_NOW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_first_version_needs_some_papers_at_rest),
		cmocka_unit_test(test_a_version_by_an_older_recipe_is_replaced),
		cmocka_unit_test(test_growth_and_shrinkage_make_a_version_due),
		cmocka_unit_test(test_an_old_version_is_due_when_papers_have_changed),
		cmocka_unit_test(test_training_waits_for_the_index),
		cmocka_unit_test(test_training_waits_for_the_changes_before_a_version_was_due),
		cmocka_unit_test(test_a_version_that_is_due_again_waits_again),
		cmocka_unit_test(test_changes_without_an_end_delay_training_for_a_limited_time),
		cmocka_unit_test(test_training_waits_for_the_end_of_an_import),
		cmocka_unit_test(test_training_does_not_wait_for_slow_growth),
		cmocka_unit_test(test_a_corpus_that_gave_none_is_not_tried_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
