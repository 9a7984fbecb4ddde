/* The engine with an external embedder: the caller passes vectors with papers and queries. */
#include "corpus.h"
#include "engine/vector/vectors.h"
#include "engine_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DIMENSION 40

struct fixture {
	struct arena *arena;
	struct engine *engine;
};

static int setup(void **state)
{
	struct fixture *fixture = malloc(sizeof(*fixture));
	fixture->arena = arena_new();
	fixture->engine = engine_new("model");
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;
	engine_free(fixture->engine);
	arena_free(fixture->arena);
	free(fixture);
	return 0;
}

/* A vector of `dimension` elements that points along `axis`, with `common` along the first. */
static const float *direction(struct arena *arena, uint32_t axis, float common, uint32_t dimension)
{
	float *vector = arena_array(arena, dimension, sizeof(float));
	vector[0] = common;
	vector[axis] = 1;
	assert_true(embedder_normalise(vector, dimension));
	return vector;
}

static const int8_t *packed(struct arena *arena, const float *vector, uint32_t dimension)
{
	int8_t *row = arena_alloc(arena, dimension);
	float scale;
	vectors_quantise(vector, dimension, row, &scale);
	return row;
}

static struct document paper(struct arena *arena, const char *id, const char *title, uint32_t axis,
                             uint64_t seq)
{
	return (struct document){
		.id = id,
		.title = title,
		.abstract = "",
		.seq = seq,
		.vector = packed(arena, direction(arena, axis, 0, DIMENSION), DIMENSION),
		.dimension = DIMENSION,
	};
}

static struct document paper_without_vector(const char *id, const char *title, uint64_t seq)
{
	return (struct document){.id = id, .title = title, .abstract = "", .seq = seq};
}

static void apply(struct engine *engine, struct document document)
{
	struct engine_change change = {.document = document};
	engine_apply(engine, &change, 1, change.document.seq);
}

/* Search for `text` with a vector along `axis`; 0: without a vector. */
static struct engine_result search(struct fixture *fixture, const char *text, uint32_t axis)
{
	struct engine_view *view = engine_view_get(fixture->engine);
	struct engine_query query = {.text = text,
	                             .length = strlen(text),
	                             .limit = 10,
	                             .dimension = DIMENSION};
	if (axis != 0)
		query.vector = direction(fixture->arena, axis, 0, DIMENSION);
	struct engine_result result = engine_search(view, &query, fixture->arena);
	engine_view_put(view);
	return result;
}

static void assert_found(struct fixture *fixture, uint32_t axis, const char *id)
{
	struct engine_result result = search(fixture, "nosuchword", axis);
	assert_int_equal(result.strategy, ENGINE_HYBRID);
	assert_true(result.count > 0);
	assert_string_equal(result.hits[0].id, id);
	assert_true(result.hits[0].cosine > 0.99f);
	assert_int_equal(result.hits[0].matched_count, 0);
}

static void test_a_vector_finds_a_paper_without_a_common_word(void **state)
{
	struct fixture *fixture = *state;
	apply(fixture->engine, paper(fixture->arena, "a", "felines", 1, 1));
	apply(fixture->engine, paper(fixture->arena, "b", "galaxies", 2, 2));
	assert_found(fixture, 1, "a");
	assert_found(fixture, 2, "b");
	struct engine_result result = search(fixture, "nosuchword", 0);
	assert_int_equal(result.strategy, ENGINE_LEXICAL);
	assert_int_equal(result.count, 0);
	result = search(fixture, "galaxies", 0);
	assert_int_equal(result.strategy, ENGINE_LEXICAL);
	assert_int_equal(result.count, 1);
}

static void test_search_is_lexical_while_no_paper_has_a_vector(void **state)
{
	struct fixture *fixture = *state;
	apply(fixture->engine, paper_without_vector("a", "felines", 1));
	merge(fixture->engine);
	apply(fixture->engine, paper_without_vector("b", "galaxies", 2));
	struct engine_result result = search(fixture, "felines", 1);
	assert_int_equal(result.strategy, ENGINE_LEXICAL);
	assert_int_equal(result.count, 1);
	struct engine_view *view = engine_view_get(fixture->engine);
	assert_int_equal(engine_dimension(view), 0);
	assert_string_equal(engine_version(view), "");
	float vector[DIMENSION];
	assert_false(engine_vector(view, "a", vector));
	assert_false(engine_embed(view, "felines", 7, vector, fixture->arena));
	engine_view_put(view);
}

/* A paper whose vector is missing is found, and not ranked behind papers with vectors. */
static void test_a_paper_without_a_vector_ranks_by_its_words(void **state)
{
	struct fixture *fixture = *state;
	apply(fixture->engine, paper(fixture->arena, "a", "felines asleep at noon", 1, 1));
	apply(fixture->engine, paper_without_vector("b", "felines", 2));
	struct engine_result by_words;
	struct engine_result result;
	for (int round = 0; round < 2; round++) {
		by_words = search(fixture, "felines", 0);
		result = search(fixture, "felines", 2);
		assert_int_equal(result.strategy, ENGINE_HYBRID);
		assert_int_equal(result.count, 2);
		assert_string_equal(result.hits[0].id, "b");
		assert_true(result.hits[0].cosine == 0);
		assert_true(fabsf(result.hits[0].relevance - by_words.hits[0].relevance) < 1e-6f);
		merge(fixture->engine);
	}
}

/* Vectors stay with their papers when parts are merged. */
static void test_vectors_are_kept_by_merges(void **state)
{
	struct fixture *fixture = *state;
	apply(fixture->engine, paper(fixture->arena, "a", "felines", 1, 1));
	apply(fixture->engine, paper(fixture->arena, "b", "galaxies", 2, 2));
	merge(fixture->engine);
	apply(fixture->engine, paper(fixture->arena, "c", "rivers", 3, 3));
	assert_found(fixture, 1, "a");
	assert_found(fixture, 3, "c");
	struct engine_merge *running = engine_merge_new(fixture->engine, ENGINE_MERGE_ALL);
	assert_true(engine_merge_run(running));
	apply(fixture->engine, paper(fixture->arena, "d", "bridges", 4, 4));
	apply(fixture->engine, paper(fixture->arena, "a", "felines", 5, 5));
	engine_merge_commit(fixture->engine, running);
	for (int round = 0; round < 2; round++) {
		assert_found(fixture, 5, "a");
		assert_found(fixture, 2, "b");
		assert_found(fixture, 3, "c");
		assert_found(fixture, 4, "d");
		merge(fixture->engine);
	}
}

/* A paper gets its vector later, and loses it when its text changes. */
static void test_a_change_sets_or_removes_the_vector(void **state)
{
	struct fixture *fixture = *state;
	apply(fixture->engine, paper(fixture->arena, "a", "felines", 1, 1));
	apply(fixture->engine, paper_without_vector("b", "galaxies", 2));
	merge(fixture->engine);
	apply(fixture->engine, paper(fixture->arena, "b", "galaxies", 2, 3));
	assert_found(fixture, 2, "b");
	apply(fixture->engine, paper_without_vector("b", "rivers", 4));
	struct engine_view *view;
	float vector[DIMENSION];
	for (int round = 0; round < 2; round++) {
		view = engine_view_get(fixture->engine);
		assert_true(engine_vector(view, "a", vector));
		assert_true(vector[1] > 0.99f);
		assert_false(engine_vector(view, "b", vector));
		engine_view_put(view);
		assert_int_equal(search(fixture, "nosuchword", 2).count, 0);
		merge(fixture->engine);
	}
}

static void test_a_vector_of_another_dimension_is_ignored(void **state)
{
	struct fixture *fixture = *state;
	struct document odd = paper(fixture->arena, "b", "galaxies", 2, 2);
	struct engine_query query = {.text = "felines", .length = 7, .limit = 10, .dimension = 8};
	odd.dimension = DIMENSION - 1;
	apply(fixture->engine, paper(fixture->arena, "a", "felines", 1, 1));
	apply(fixture->engine, odd);
	merge(fixture->engine);
	apply(fixture->engine, odd);
	odd.id = "c";
	apply(fixture->engine, odd);
	struct engine_view *view = engine_view_get(fixture->engine);
	assert_int_equal(engine_dimension(view), DIMENSION);
	float vector[DIMENSION];
	assert_false(engine_vector(view, "b", vector));
	assert_false(engine_vector(view, "c", vector));
	query.vector = direction(fixture->arena, 1, 0, 8);
	assert_int_equal(engine_search(view, &query, fixture->arena).strategy, ENGINE_LEXICAL);
	engine_view_put(view);
	assert_int_equal(search(fixture, "galaxies", 1).count, 3);
	merge(fixture->engine);
	assert_found(fixture, 1, "a");
}

/* Enough papers to train on, but the external embedder prevents training. */
static void load_many(struct fixture *fixture, struct engine *engine, uint32_t count)
{
	struct engine_change *changes = arena_array(fixture->arena, count, sizeof(*changes));
	struct random_source noise = {11};
	for (uint32_t i = 0; i < count; i++) {
		struct document document = sample_document(fixture->arena, &noise, i, 100);
		document.vector =
			packed(fixture->arena,
		               direction(fixture->arena, 1 + i % (DIMENSION - 1), 2, DIMENSION),
		               DIMENSION);
		document.dimension = DIMENSION;
		changes[i].document = document;
	}
	engine_apply(engine, changes, count, count);
}

static void test_a_snapshot_is_restored_for_its_own_model_only(void **state)
{
	struct fixture *fixture = *state;
	char path[] = "/tmp/engine_external_test.XXXXXX";
	const char *const others[] = {"another", NULL};
	struct engine *restored = engine_new("model");
	int file = mkstemp(path);
	assert_true(file >= 0);
	close(file);
	load_many(fixture, fixture->engine, 200);
	struct engine_view *view = engine_view_get(fixture->engine);
	assert_int_equal(engine_dimension(view), DIMENSION);
	assert_string_equal(engine_version(view), "model");
	assert_true(engine_save(view, path));
	engine_view_put(view);
	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		struct engine *other = engine_new(others[i]);
		assert_false(engine_restore(other, path));
		engine_free(other);
	}
	assert_true(engine_restore(restored, path));
	view = engine_view_get(restored);
	assert_string_equal(engine_version(view), "model");
	assert_int_equal(engine_dimension(view), DIMENSION);
	assert_int_equal(engine_view_count(view), 200);
	engine_view_put(view);
	assert_false(engine_is_merge_due(restored, ENGINE_MERGE_DUE));
	engine_free(restored);
	unlink(path);
}

static void test_a_snapshot_of_the_built_in_embedder_is_refused(void **state)
{
	struct fixture *fixture = *state;
	char path[] = "/tmp/engine_external_test.XXXXXX";
	struct engine *built_in = engine_new(NULL);
	struct engine_view *view = engine_view_get(built_in);
	int file = mkstemp(path);
	assert_true(file >= 0);
	close(file);
	assert_true(engine_save(view, path));
	engine_view_put(view);
	assert_false(engine_restore(fixture->engine, path));
	assert_true(engine_restore(built_in, path));
	engine_free(built_in);
	unlink(path);
}

/* All texts have similar vectors (cosine 0.8): cosines relative to the background still separate
 * them. */
static void test_cosines_are_relative_to_the_background(void **state)
{
	struct fixture *fixture = *state;
	struct engine_query query = {.text = "nosuchword",
	                             .length = 10,
	                             .limit = 100,
	                             .vector = direction(fixture->arena, 3, 2, DIMENSION),
	                             .dimension = DIMENSION};
	load_many(fixture, fixture->engine, (DIMENSION - 1) * 2);
	struct engine_view *view = engine_view_get(fixture->engine);
	struct engine_result result = engine_search(view, &query, fixture->arena);
	assert_true(result.count > 2);
	assert_true(result.hits[0].cosine > 0.9f && result.hits[1].cosine > 0.9f);
	assert_true(result.hits[2].cosine < 0.2f);
	assert_true(result.hits[2].relevance < 0.3f * result.hits[0].relevance);
	engine_view_put(view);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_vector_finds_a_paper_without_a_common_word,
	                                        setup, teardown),
		cmocka_unit_test_setup_teardown(test_search_is_lexical_while_no_paper_has_a_vector,
	                                        setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_paper_without_a_vector_ranks_by_its_words,
	                                        setup, teardown),
		cmocka_unit_test_setup_teardown(test_vectors_are_kept_by_merges, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_change_sets_or_removes_the_vector, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(test_a_vector_of_another_dimension_is_ignored,
	                                        setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_snapshot_is_restored_for_its_own_model_only,
	                                        setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_snapshot_of_the_built_in_embedder_is_refused,
	                                        setup, teardown),
		cmocka_unit_test_setup_teardown(test_cosines_are_relative_to_the_background, setup,
	                                        teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
