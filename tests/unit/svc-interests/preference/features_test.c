#include "preference/features.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

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

static double length_of(const struct features *features)
{
	return sqrt(features_dot(features, features));
}

static void test_empty_paper_has_no_features(void **state)
{
	struct fixture *fixture = *state;
	struct bag *bag = bag_of(fixture, NULL, NULL);
	assert_int_equal(bag->count, 0);
	struct features *features = features_new(fixture->arena, NULL, bag);
	assert_int_equal(features->count, 0);
	assert_true(features_dot(features, features) == 0);
	assert_true(features_dot(NULL, features) == 0);
}

static void test_features_have_length_1_and_are_deterministic(void **state)
{
	struct fixture *fixture = *state;
	struct bag *bags[3] = {
		bag_of(fixture, "Dense retrieval", "retrieval of passages by dense vectors"),
		bag_of(fixture, "Sparse retrieval", "retrieval of passages by words"),
		bag_of(fixture, "Protein folding", "structure of proteins"),
	};
	struct frequency_table *table =
		frequency_table_new(fixture->arena, (const struct bag *const *)bags, 3);
	struct features *first = features_new(fixture->arena, table, bags[0]);
	struct features *again = features_new(fixture->arena, table,
	                                      bag_of(fixture, "Dense retrieval",
	                                             "retrieval of passages by dense vectors"));
	assert_true(fabs(length_of(first) - 1) < 1e-6);
	assert_int_equal(first->count, again->count);
	assert_memory_equal(first->terms, again->terms, first->count * sizeof(*first->terms));

	struct features *near = features_new(fixture->arena, table, bags[1]);
	struct features *far = features_new(fixture->arena, table, bags[2]);
	assert_true(features_dot(first, near) > 0.1);
	assert_true(features_dot(first, far) == 0);
	assert_true(features_dot(first, near) == features_dot(near, first));
}

static struct features *dense_features(struct fixture *fixture, const char *title,
                                       const float *dense, uint64_t space)
{
	struct paper_text paper = {.title = title,
	                           .dense = dense,
	                           .dense_length = 2,
	                           .dense_space = space};
	return features_new(fixture->arena, NULL,
	                    bag_new(fixture->arena, fixture->splitter, &paper));
}

static void test_dense_vectors_of_one_space_are_compared(void **state)
{
	struct fixture *fixture = *state;
	static const float east[] = {3, 0}, north[] = {0, 5};
	struct features *both = dense_features(fixture, "word", east, 1);
	assert_true(fabs(length_of(both) - 1) < 1e-6);
	struct features *turned = dense_features(fixture, "word", north, 1);
	/* The terms are equal, and the dense blocks are orthogonal or not compared. */
	double terms_only = 1 / (1 + FEATURES_DENSE_SCALE * FEATURES_DENSE_SCALE);
	assert_true(fabs(features_dot(both, turned) - terms_only) < 1e-6);
	struct features *other_space = dense_features(fixture, "word", east, 2);
	assert_true(fabs(features_dot(both, other_space) - terms_only) < 1e-6);
	struct features *alone = dense_features(fixture, NULL, east, 1);
	assert_true(fabs(length_of(alone) - 1) < 1e-6);
}

static void test_zero_and_not_finite_dense_vectors_are_ignored(void **state)
{
	struct fixture *fixture = *state;
	static const float vectors[][2] = {{NAN, 1}, {INFINITY, 0}, {0, 0}};
	for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
		struct features *features = dense_features(fixture, "word", vectors[i], 1);
		assert_int_equal(features->dense_length, 0);
		assert_true(fabs(length_of(features) - 1) < 1e-6);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_empty_paper_has_no_features, set_up,
	                                        tear_down),
		cmocka_unit_test_setup_teardown(test_features_have_length_1_and_are_deterministic,
	                                        set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_dense_vectors_of_one_space_are_compared,
	                                        set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_zero_and_not_finite_dense_vectors_are_ignored,
	                                        set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
