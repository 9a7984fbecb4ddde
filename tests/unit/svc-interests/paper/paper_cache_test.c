#include "paper/paper_cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LARGE ((size_t)1 << 20)

/* A paper with a bag, from its JSON. */
static struct paper paper_of(struct arena *arena, const char *id, int version)
{
	const char *json = arena_printf(
		arena,
		"[{\"arxiv_id\":\"%s\",\"version\":%d,\"title\":\"Title of %s\",\"abstract\":"
		"\"Some words\",\"categories\":[\"cs.LG\",\"cs.AI\"],\"published_at\":"
		"\"2026-01-01T00:00:00Z\",\"withdrawn\":true,\"vector\":\"AQI=\",\"scale\":0.5}]",
		id, version, id);
	struct paper_list list = papers_read(arena, json, 0);
	papers_make_bags(arena, word_splitter_new(arena), list);
	return list.papers[0];
}

static void add(struct block_cache *cache, const char *id, int version, const char *embedder)
{
	struct arena *arena = arena_new();
	struct paper paper = paper_of(arena, id, version);
	paper_cache_add(cache, &paper, embedder);
	arena_free(arena);
}

static void test_a_paper_is_copied(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct block_cache *cache = block_cache_new(LARGE);
	struct paper same = paper_of(arena, "1", 7);
	add(cache, "1", 7, "e");
	const struct paper *paper = paper_cache_hold(cache, arena, "1", "e", 7);
	assert_string_equal(paper->text.title, "Title of 1");
	assert_string_equal(paper->text.abstract, "Some words");
	assert_int_equal(paper->text.category_count, 2);
	assert_string_equal(paper->text.categories[1], "cs.AI");
	assert_true(paper->is_withdrawn);
	assert_true(paper->published_ms == same.published_ms);
	assert_int_equal(paper->bag->count, same.bag->count);
	assert_memory_equal(paper->bag->terms, same.bag->terms,
	                    same.bag->count * sizeof(*same.bag->terms));
	assert_int_equal(paper->bag->dense_length, 2);
	assert_true(paper->bag->dense[1] == 1);
	assert_true(paper->bag->dense_space == same.bag->dense_space);
	block_cache_free(cache);
	arena_free(arena);
}

/* They are made again for other frequencies only. */
static void test_features_are_kept_with_a_paper(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct block_cache *cache = block_cache_new(LARGE);
	struct paper paper = paper_of(arena, "1", 7);
	struct paper_list list = {&paper, 1};
	const struct frequency_table *table = frequency_table_new(arena, &paper.bag, 1);
	const struct frequency_table *other = frequency_table_new(arena, NULL, 0);
	const struct features *made = papers_make_features(arena, table, list)[0];
	paper_cache_add(cache, &paper, "e");
	paper = *paper_cache_hold(cache, arena, "1", "e", 7);
	const struct features *kept = paper.features;
	assert_int_equal(kept->count, made->count);
	assert_memory_equal(kept->terms, made->terms, made->count * sizeof(*made->terms));
	assert_int_equal(kept->dense_length, 2);
	assert_memory_equal(kept->dense, made->dense, 2 * sizeof(*made->dense));
	assert_ptr_equal(papers_make_features(arena, table, list)[0], kept);
	assert_ptr_not_equal(papers_make_features(arena, other, list)[0], kept);
	block_cache_empty(cache);
	assert_null(paper_cache_hold(cache, arena, "1", "e", 7));
	assert_int_equal(block_cache_bytes(cache), 0);
	block_cache_free(cache);
	arena_free(arena);
}

static void test_versions_and_embedders_are_told_apart(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct block_cache *cache = block_cache_new(LARGE);
	add(cache, "1", 7, "e");
	add(cache, "2", 7, NULL);
	assert_non_null(paper_cache_hold(cache, arena, "1", "e", 0));
	assert_null(paper_cache_hold(cache, arena, "1", "e", 8));
	assert_null(paper_cache_hold(cache, arena, "1", "f", 7));
	assert_null(paper_cache_hold(cache, arena, "1", NULL, 7));
	assert_non_null(paper_cache_hold(cache, arena, "2", NULL, 7));
	assert_null(paper_cache_hold(cache, arena, "2", "e", 7));
	assert_null(paper_cache_hold(cache, arena, "3", "e", 0));
	add(cache, "1", 8, "e");
	assert_int_equal(paper_cache_hold(cache, arena, "1", "e", 8)->version, 8);
	block_cache_free(cache);
	arena_free(arena);
}

/* One that is held can be read after it has gone. */
static void test_what_was_not_used_for_the_longest_goes(void **state)
{
	(void)state;
	struct arena *arena = arena_new(), *other = arena_new();
	struct block_cache *measured = block_cache_new(LARGE);
	add(measured, "1", 1, "e");
	struct block_cache *cache = block_cache_new(2 * block_cache_bytes(measured));
	add(cache, "1", 1, "e");
	add(cache, "2", 1, "e");
	const struct paper *held = paper_cache_hold(cache, arena, "2", "e", 0);
	assert_non_null(paper_cache_hold(cache, other, "1", "e", 0));
	add(cache, "3", 1, "e");
	assert_null(paper_cache_hold(cache, other, "2", "e", 0));
	assert_non_null(paper_cache_hold(cache, other, "1", "e", 0));
	assert_int_equal(block_cache_bytes(cache), 2 * block_cache_bytes(measured));
	block_cache_free(cache);
	block_cache_free(measured);
	assert_string_equal(held->arxiv_id, "2");
	arena_free(arena);
	arena_free(other);
}

static void test_a_cache_at_rest_is_empty(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct block_cache *cache = block_cache_new(LARGE);
	add(cache, "1", 1, "e");
	add(cache, "2", 1, "e");
	block_cache_age(cache);
	assert_non_null(paper_cache_hold(cache, arena, "2", "e", 0));
	block_cache_age(cache);
	block_cache_age(cache);
	assert_null(paper_cache_hold(cache, arena, "1", "e", 0));
	assert_non_null(paper_cache_hold(cache, arena, "2", "e", 0));
	for (int i = 0; i < 3; i++)
		block_cache_age(cache);
	assert_int_equal(block_cache_bytes(cache), 0);
	block_cache_free(cache);
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_paper_is_copied),
		cmocka_unit_test(test_features_are_kept_with_a_paper),
		cmocka_unit_test(test_versions_and_embedders_are_told_apart),
		cmocka_unit_test(test_what_was_not_used_for_the_longest_goes),
		cmocka_unit_test(test_a_cache_at_rest_is_empty),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
