#include "engine/filter.h"

#include "corpus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MANY 400

struct fixture {
	struct segment *segment;
	struct arena *arena;
};

static int setup(void **state)
{
	static struct fixture fixture;
	fixture.segment = sample_segment(31, MANY, 40);
	fixture.arena = arena_new();
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;
	segment_free(fixture->segment);
	arena_free(fixture->arena);
	return 0;
}

/* Whether document `doc` has a category that `category` includes. */
static bool has_category(const struct segment *segment, uint32_t doc, const char *category)
{
	const struct segment_doc *entry = &segment->docs[doc];
	for (uint32_t i = 0; i < entry->category_count; i++) {
		const char *name =
			segment_category_name(segment,
		                              segment->category_list[entry->categories + i]);
		size_t length = strlen(category);
		if (strcmp(name, category) == 0 ||
		    (strncmp(name, category, length) == 0 && name[length] == '.'))
			return true;
	}
	return false;
}

static void test_any_of_the_categories_is_allowed(void **state)
{
	static const char *const pairs[][2] = {
		{"cs.CL", "cs.CL"}, {"cs", "cs"},      {"csx", "stat.ML"},
		{"absent", "c"},    {"stat", "cs.CV"},
	};
	struct fixture *fixture = *state;
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		struct filter filter = {.categories = pairs[i], .category_count = 2};
		struct doc_filter bits =
			filter_resolve(&filter, fixture->segment, NULL, fixture->arena);
		for (uint32_t doc = 0; doc < MANY; doc++)
			assert_int_equal(doc_filter_allows(&bits, doc),
			                 has_category(fixture->segment, doc, pairs[i][0]) ||
			                         has_category(fixture->segment, doc, pairs[i][1]));
	}
}

static void test_containers_are_required_or_excluded(void **state)
{
	struct fixture *fixture = *state;
	struct filter with = {.container = CONTAINER_WITH};
	struct filter without = {.container = CONTAINER_WITHOUT};
	struct doc_filter with_bits = filter_resolve(&with, fixture->segment, NULL, fixture->arena);
	struct doc_filter without_bits =
		filter_resolve(&without, fixture->segment, NULL, fixture->arena);
	for (uint32_t doc = 0; doc < MANY; doc++) {
		bool has = fixture->segment->docs[doc].has_container;
		assert_int_equal(doc_filter_allows(&with_bits, doc), has);
		assert_int_equal(doc_filter_allows(&without_bits, doc), !has);
	}
}

static void test_conditions_are_combined(void **state)
{
	static const char *const categories[] = {"cs"};
	static const char *const excluded[] = {"p3", "p30", "unknown", "p60"};
	struct fixture *fixture = *state;
	struct filter filter = {.categories = categories,
	                        .category_count = 1,
	                        .container = CONTAINER_WITH,
	                        .has_published_since = true,
	                        .published_since = 100,
	                        .excluded = excluded,
	                        .excluded_count = 4};
	size_t allowed = 0;
	uint64_t alive[(MANY + 63) / 64];
	memset(alive, 0xF7, sizeof(alive));
	struct doc_filter bits = filter_resolve(&filter, fixture->segment, alive, fixture->arena);
	for (uint32_t doc = 0; doc < MANY; doc++) {
		const struct segment_doc *entry = &fixture->segment->docs[doc];
		const char *id = segment_doc_id(fixture->segment, doc);
		bool is_excluded = false;
		for (size_t i = 0; i < ARRAY_LEN(excluded); i++)
			is_excluded |= strcmp(id, excluded[i]) == 0;
		bool is_expected = has_category(fixture->segment, doc, "cs") &&
		                   entry->has_container && entry->published >= 100 &&
		                   !is_excluded && doc % 8 != 3;
		assert_int_equal(doc_filter_allows(&bits, doc), is_expected);
		allowed += is_expected;
	}
	assert_true(allowed > 10 && allowed < MANY / 2);
}

static void test_no_condition_makes_no_bitmap(void **state)
{
	struct fixture *fixture = *state;
	struct filter filter = {0};
	struct doc_filter bits = filter_resolve(&filter, fixture->segment, NULL, fixture->arena);
	assert_null(bits.bits);
	assert_int_equal(bits.below, MANY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_of_the_categories_is_allowed),
		cmocka_unit_test(test_containers_are_required_or_excluded),
		cmocka_unit_test(test_conditions_are_combined),
		cmocka_unit_test(test_no_condition_makes_no_bitmap),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
