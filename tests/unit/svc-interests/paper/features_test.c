#include "paper/features.h"

#include "bag_fixture.h"

#include <math.h>

static double length_of(const struct features *features)
{
	return sqrt(features_dot(features, features));
}

static void test_empty_paper_has_no_features(void **state)
{
	(void)state;
	struct bag *bag = bag_of(NULL, NULL);
	assert_int_equal(bag->count, 0);
	struct features *features = features_new(arena, NULL, bag);
	assert_int_equal(features->count, 0);
	assert_true(features_dot(features, features) == 0);
	assert_true(features_dot(NULL, features) == 0);
}

static void test_features_have_length_1_and_are_deterministic(void **state)
{
	(void)state;
	struct bag *bags[3] = {
		bag_of("Dense retrieval", "retrieval of passages by dense vectors"),
		bag_of("Sparse retrieval", "retrieval of passages by words"),
		bag_of("Protein folding", "structure of proteins"),
	};
	struct frequency_table *table =
		frequency_table_new(arena, (const struct bag *const *)bags, 3);
	struct features *first = features_new(arena, table, bags[0]);
	struct features *again =
		features_new(arena, table,
	                     bag_of("Dense retrieval", "retrieval of passages by dense vectors"));
	assert_true(fabs(length_of(first) - 1) < 1e-6);
	assert_int_equal(first->count, again->count);
	assert_memory_equal(first->terms, again->terms, first->count * sizeof(*first->terms));

	struct features *near = features_new(arena, table, bags[1]);
	struct features *far = features_new(arena, table, bags[2]);
	assert_true(features_dot(first, near) > 0.1);
	assert_true(features_dot(first, far) == 0);
	assert_true(features_dot(first, near) == features_dot(near, first));
}

static struct features *dense_features(const char *title, const float *dense, uint64_t space)
{
	struct paper_text paper = {.title = title,
	                           .dense = dense,
	                           .dense_length = 2,
	                           .dense_space = space};
	return features_new(arena, NULL, bag_of_paper(&paper));
}

static void test_dense_vectors_of_one_space_are_compared(void **state)
{
	(void)state;
	static const float east[] = {3, 0}, north[] = {0, 5};
	struct features *both = dense_features("word", east, 1);
	assert_true(fabs(length_of(both) - 1) < 1e-6);
	struct features *turned = dense_features("word", north, 1);
	/* The terms are equal, and the dense blocks are orthogonal or not compared. */
	double terms_only = 1 / (1 + FEATURES_DENSE_SCALE * FEATURES_DENSE_SCALE);
	assert_true(fabs(features_dot(both, turned) - terms_only) < 1e-6);
	struct features *other_space = dense_features("word", east, 2);
	assert_true(fabs(features_dot(both, other_space) - terms_only) < 1e-6);
	struct features *alone = dense_features(NULL, east, 1);
	assert_true(fabs(length_of(alone) - 1) < 1e-6);
}

static void test_zero_and_not_finite_dense_vectors_are_ignored(void **state)
{
	(void)state;
	static const float vectors[][2] = {{NAN, 1}, {INFINITY, 0}, {0, 0}};
	for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
		struct features *features = dense_features("word", vectors[i], 1);
		assert_int_equal(features->dense_length, 0);
		assert_true(fabs(length_of(features) - 1) < 1e-6);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARENA_TEST(test_empty_paper_has_no_features),
		ARENA_TEST(test_features_have_length_1_and_are_deterministic),
		ARENA_TEST(test_dense_vectors_of_one_space_are_compared),
		ARENA_TEST(test_zero_and_not_finite_dense_vectors_are_ignored),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
