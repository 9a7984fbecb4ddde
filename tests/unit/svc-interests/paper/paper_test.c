#include "paper/paper.h"

#include "base/timefmt.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static int64_t time_of(const char *text)
{
	int64_t time_ms;
	assert_true(time_parse(text, strlen(text), &time_ms));
	return time_ms;
}

static void test_every_member_is_read(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	/* base64 of the bytes 1, -2, 127 */
	struct paper_list list = papers_read(
		arena,
		"[{\"arxiv_id\":\"2205.14135\",\"title\":\"T\",\"abstract\":\"A\","
		"\"categories\":[\"cs.LG\",\"cs.AI\"],\"published_at\":\"2026-01-01T00:00:00."
		"000Z\","
		"\"has_container\":true,\"vector\":\"Af5/\",\"scale\":0.5,\"model\":\"m\","
		"\"relevance\":0.75,\"matched\":[\"attention\"],\"signal\":\"like\",\"index\":7}]",
		time_of("2026-01-03T12:00:00Z"));
	assert_int_equal(list.count, 1);
	const struct paper *paper = &list.papers[0];
	assert_string_equal(paper->arxiv_id, "2205.14135");
	assert_int_equal(paper->index, 7);
	assert_string_equal(paper->text.title, "T");
	assert_string_equal(paper->text.abstract, "A");
	assert_int_equal(paper->text.category_count, 2);
	assert_string_equal(paper->text.categories[1], "cs.AI");
	assert_int_equal(paper->text.dense_length, 3);
	assert_true(paper->text.dense[0] == 0.5f);
	assert_true(paper->text.dense[1] == -1.0f);
	assert_true(paper->text.dense[2] == 63.5f);
	assert_true(fabs(paper->age_days - 2.5) < 1e-9);
	assert_true(paper->has_container);
	assert_true(fabs(paper->relevance - 0.75) < 1e-9);
	assert_int_equal(paper->matched_count, 1);
	assert_string_equal(paper->matched[0], "attention");
	assert_string_equal(paper->signal, "like");
	arena_free(arena);
}

static void test_members_are_optional(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct paper_list list = papers_read(
		arena, "[{}, {\"published_at\":null,\"vector\":null,\"scale\":0,\"matched\":[1]}]",
		0);
	assert_int_equal(list.count, 2);
	for (size_t i = 0; i < list.count; i++) {
		const struct paper *paper = &list.papers[i];
		assert_null(paper->arxiv_id);
		assert_null(paper->text.title);
		assert_null(paper->text.dense);
		assert_int_equal(paper->text.dense_length, 0);
		assert_true(isnan(paper->age_days));
		assert_false(paper->has_container);
		assert_int_equal(paper->matched_count, 0);
		assert_null(paper->signal);
	}
	arena_free(arena);
}

static void test_invalid_vectors_are_ignored(void **state)
{
	(void)state;
	static const char *const rows[] = {
		"[{\"vector\":\"not base64!\",\"scale\":1,\"model\":\"m\"}]",
		"[{\"vector\":\"\",\"scale\":1,\"model\":\"m\"}]",
		"[{\"vector\":\"Af5/\",\"scale\":0,\"model\":\"m\"}]",
		"[{\"vector\":\"Af5/\",\"model\":\"m\"}]",
		"[{\"vector\":\"Af5/\",\"scale\":-1,\"model\":\"m\"}]",
		"[{\"vector\":7,\"scale\":1,\"model\":\"m\"}]",
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct arena *arena = arena_new();
		struct paper_list list = papers_read(arena, rows[i], 0);
		assert_int_equal(list.count, 1);
		assert_null(list.papers[0].text.dense);
		arena_free(arena);
	}
}

static void test_models_have_different_spaces(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct paper_list list =
		papers_read(arena,
	                    "[{\"vector\":\"Af5/\",\"scale\":1,\"model\":\"3-200\"},"
	                    "{\"vector\":\"Af5/\",\"scale\":1,\"model\":\"3-200\"},"
	                    "{\"vector\":\"Af5/\",\"scale\":1,\"model\":\"4-200\"}]",
	                    0);
	assert_true(list.papers[0].text.dense_space == list.papers[1].text.dense_space);
	assert_true(list.papers[0].text.dense_space != list.papers[2].text.dense_space);
	arena_free(arena);
}

static void test_invalid_json_is_an_empty_list(void **state)
{
	(void)state;
	static const char *const texts[] = {"", "{", "null", "{}", "7", "[{}"};
	struct arena *arena = arena_new();
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		assert_int_equal(papers_read(arena, texts[i], 0).count, 0);
	arena_free(arena);
}

static void test_paper_of_the_future_has_age_0(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct paper_list list =
		papers_read(arena, "[{\"published_at\":\"2030-01-01T00:00:00.000Z\"}]", 0);
	assert_true(list.papers[0].age_days == 0);
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_member_is_read),
		cmocka_unit_test(test_members_are_optional),
		cmocka_unit_test(test_invalid_vectors_are_ignored),
		cmocka_unit_test(test_models_have_different_spaces),
		cmocka_unit_test(test_invalid_json_is_an_empty_list),
		cmocka_unit_test(test_paper_of_the_future_has_age_0),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
