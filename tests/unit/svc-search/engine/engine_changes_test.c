/* Ranking again what a search found, together with what has changed since. */
#include "engine/engine.h"
#include "generated.h"

#include <math.h>

#define PAPERS 500
#define ADDED  40
#define EDITED 20
#define GONE   10
#define ROUNDS 12 /* never more than ENGINE_MAX_RESULTS papers */

/* A text that some papers have much of, and the search for it before anything changed. */
struct found {
	const char *text;
	size_t limit;
	struct engine_result result;
	uint64_t seq;
	const char **left_out; /* every second paper of the result; NULL: none */
	size_t left_out_count;
};

/* The index, and the number of its last change. */
static struct engine *engine;
static uint64_t last;

static int load(void **state)
{
	(void)state;
	engine = engine_new(NULL);
	load_generated(engine, PAPERS);
	last = PAPERS;
	return 0;
}

static int load_without_vectors(void **state)
{
	(void)state;
	engine = engine_new(NULL);
	fill_generated(engine, PAPERS);
	last = PAPERS;
	return 0;
}

static int unload(void **state)
{
	(void)state;
	engine_free(engine);
	return 0;
}

static struct found find(struct arena *arena, const char *text, size_t limit)
{
	struct engine_view *view = engine_view_get(engine);
	struct found found = {.text = text,
	                      .limit = limit,
	                      .result = search_view(arena, view, text, limit),
	                      .seq = engine_view_seq(view)};
	assert_int_equal(found.result.mode, ENGINE_SEARCH);
	engine_view_put(view);
	return found;
}

/* The same search with other results in place of every second paper of `seen`. */
static struct found find_others(struct arena *arena, const struct found *seen, size_t limit)
{
	struct engine_view *view = engine_view_get(engine);
	struct found found = {.text = seen->text, .limit = limit, .seq = engine_view_seq(view)};
	found.left_out = arena_array(arena, seen->result.count, sizeof(*found.left_out));
	for (size_t i = 1; i < seen->result.count; i += 2)
		found.left_out[found.left_out_count++] = seen->result.hits[i].id;
	struct engine_query query = {
		.text = found.text,
		.length = strlen(found.text),
		.limit = limit,
		.left_out = found.left_out,
		.left_out_count = found.left_out_count,
	};
	found.result = engine_search(view, &query, arena);
	engine_view_put(view);
	return found;
}

static struct engine_result renew_after(struct arena *arena, const struct found *found,
                                        uint64_t seq)
{
	struct engine_view *view = engine_view_get(engine);
	const char **ids = arena_array(arena, found->result.count, sizeof(*ids));
	for (size_t i = 0; i < found->result.count; i++)
		ids[i] = found->result.hits[i].id;
	struct engine_query query = {
		.text = found->text,
		.length = strlen(found->text),
		.limit = found->limit,
		.mode = ENGINE_REFRESH,
		.candidates = ids,
		.candidate_count = found->result.count,
		.changed_after = seq,
		.left_out = found->left_out,
		.left_out_count = found->left_out_count,
	};
	struct engine_result result = engine_search(view, &query, arena);
	engine_view_put(view);
	return result;
}

static struct engine_result renew(struct arena *arena, const struct found *found)
{
	return renew_after(arena, found, found->seq);
}

/* New papers, new texts of old ones, and deletions, in batches as they come. */
static void change_some(struct arena *arena, struct random_source *noise)
{
	struct engine_change changes[ADDED + EDITED + GONE] = {0};
	for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
		uint32_t number = i < ADDED ? (uint32_t)last : random_below(noise, PAPERS);
		changes[i].document = sample_document(arena, noise, number, GENERATED_WORDS);
		changes[i].document.seq = ++last;
		changes[i].is_deleted = i >= ADDED + EDITED;
	}
	for (size_t at = 0; at < ARRAY_LEN(changes); at += 35)
		engine_apply(engine, changes + at, 35, changes[at + 34].document.seq);
}

static const struct engine_hit *hit_of(const struct engine_result *result, const char *id)
{
	for (size_t i = 0; i < result->count; i++)
		if (strcmp(result->hits[i].id, id) == 0)
			return &result->hits[i];
	return NULL;
}

static void assert_same(const struct engine_result *one, const struct engine_result *other)
{
	assert_int_equal(one->count, other->count);
	for (size_t i = 0; i < one->count; i++) {
		const struct engine_hit *hit = hit_of(other, one->hits[i].id);
		assert_non_null(hit);
		assert_true(fabsf(hit->relevance - one->hits[i].relevance) < 1e-4f);
	}
}

/* What the search finds now, but papers that it did not find and that have not changed. */
static void assert_renewed(const struct engine_result *renewed, const struct found *before,
                           const struct engine_result *whole)
{
	for (size_t i = 0; i < renewed->count; i++) {
		const struct engine_hit *hit = hit_of(whole, renewed->hits[i].id);
		assert_non_null(hit);
		assert_true(fabsf(hit->relevance - renewed->hits[i].relevance) < 1e-4f);
	}
	for (size_t i = 0; i < whole->count; i++)
		if (whole->hits[i].seq > before->seq || hit_of(&before->result, whole->hits[i].id))
			assert_non_null(hit_of(renewed, whole->hits[i].id));
}

/* Where the search finds all that it can, nothing else is missing. */
static void test_a_renewal_is_the_search(void **state)
{
	struct random_source noise = {21};
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct arena *arena = arena_new();
		const char *text = sample_text(arena, &noise, 2 + round % 12, GENERATED_WORDS);
		struct found found = find(arena, text, ENGINE_MAX_RESULTS);
		change_some(arena, &noise);
		struct engine_result renewed = renew(arena, &found);
		struct found whole = find(arena, text, ENGINE_MAX_RESULTS);
		assert_int_equal(renewed.mode, ENGINE_REFRESH);
		assert_renewed(&renewed, &found, &whole.result);
		arena_free(arena);
	}
}

/* A merge puts what has changed beside what has not. */
static void test_a_merge_keeps_what_has_changed(void **state)
{
	struct random_source noise = {22};
	(void)state;
	for (int round = 0; round < 10; round++) {
		struct arena *arena = arena_new();
		const char *text = sample_text(arena, &noise, 8, GENERATED_WORDS);
		struct found found = find(arena, text, 60);
		change_some(arena, &noise);
		struct engine_result before = renew(arena, &found);
		merge(engine);
		struct engine_result after = renew(arena, &found);
		assert_int_equal(after.mode, ENGINE_REFRESH);
		assert_same(&before, &after);
		arena_free(arena);
	}
}

/* Of the best few, what has changed is the same, and the rest was there before. */
static void test_what_has_changed_enters_and_leaves(void **state)
{
	struct random_source noise = {23};
	size_t entered = 0, left = 0;
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct arena *arena = arena_new();
		const char *text = sample_text(arena, &noise, 8, GENERATED_WORDS);
		struct found found = find(arena, text, 60);
		change_some(arena, &noise);
		struct engine_result renewed = renew(arena, &found);
		struct found whole = find(arena, text, 60);
		for (size_t i = 0; i < renewed.count; i++)
			assert_true(renewed.hits[i].seq > found.seq ||
			            hit_of(&found.result, renewed.hits[i].id));
		for (size_t i = 0; i < 50; i++) {
			const struct engine_hit *hit = &whole.result.hits[i];
			entered += hit->seq > found.seq;
			if (hit->seq > found.seq)
				assert_non_null(hit_of(&renewed, hit->id));
		}
		for (size_t i = 0; i < found.result.count; i++)
			left += !hit_of(&renewed, found.result.hits[i].id);
		arena_free(arena);
	}
	assert_true(entered >= ROUNDS && left >= ROUNDS);
}

/* The papers that move the query are those of the search, too. */
static void test_a_better_paper_moves_the_query(void **state)
{
	struct arena *arena = arena_new();
	struct random_source noise = {24};
	const char *text = sample_text(arena, &noise, 10, GENERATED_WORDS);
	struct found found = find(arena, text, 60);
	(void)state;
	struct engine_change change = {
		.document = {.id = "best", .title = text, .abstract = text, .seq = ++last}};
	engine_apply(engine, &change, 1, last);
	struct engine_view *view = engine_view_get(engine); /* has the ids of the feedback */
	struct engine_result renewed = renew(arena, &found);
	struct found whole = find(arena, text, 60);
	assert_string_equal(renewed.hits[0].id, "best");
	assert_int_equal(renewed.feedback_count, whole.result.feedback_count);
	for (size_t i = 0; i < renewed.feedback_count; i++)
		assert_string_equal(renewed.feedback[i], whole.result.feedback[i]);
	assert_true(fabsf(renewed.hits[0].relevance - whole.result.hits[0].relevance) < 1e-4f);
	engine_view_put(view);
	arena_free(arena);
}

/* Others take their places, and have the relevance that they had. The best stay. */
static void test_papers_are_left_out(void **state)
{
	struct random_source noise = {27};
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct arena *arena = arena_new();
		const char *text = sample_text(arena, &noise, 8, GENERATED_WORDS);
		struct found all = find(arena, text, 300);
		struct found others = find_others(arena, &all, 60);
		size_t own = 0;
		for (size_t i = 0; i < others.result.count; i++) {
			const struct engine_hit *hit = &others.result.hits[i];
			const struct engine_hit *same = hit_of(&all.result, hit->id);
			size_t place = (size_t)(same - all.result.hits);
			assert_non_null(same);
			assert_true(fabsf(hit->relevance - same->relevance) < 1e-4f);
			if (place % 2 == 0)
				assert_int_equal(place, 2 * own++);
		}
		assert_int_equal(own, 60);
		for (size_t i = 0; i < ENGINE_BEST; i++)
			assert_string_equal(others.result.hits[i].id, all.result.hits[i].id);
		assert_true(others.result.count < 60 + ENGINE_BEST);
		arena_free(arena);
	}
}

static void test_papers_are_left_out_without_vectors(void **state)
{
	test_papers_are_left_out(state);
}

/* A renewal of such a result is that of a whole search, too. */
static void test_what_is_left_out_stays_out(void **state)
{
	struct random_source noise = {28};
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct arena *arena = arena_new();
		const char *text = sample_text(arena, &noise, 8, GENERATED_WORDS);
		struct found all = find(arena, text, 300);
		struct found before = find_others(arena, &all, 60);
		change_some(arena, &noise);
		struct engine_result renewed = renew(arena, &before);
		struct found whole = find_others(arena, &all, 300);
		assert_int_equal(renewed.mode, ENGINE_REFRESH);
		for (size_t i = 0; i < renewed.count; i++) {
			const struct engine_hit *hit = hit_of(&whole.result, renewed.hits[i].id);
			assert_non_null(hit);
			assert_true(fabsf(hit->relevance - renewed.hits[i].relevance) < 1e-4f);
		}
		arena_free(arena);
	}
}

static void test_nothing_has_changed(void **state)
{
	struct arena *arena = arena_new();
	struct random_source noise = {25};
	struct found found = find(arena, sample_text(arena, &noise, 6, GENERATED_WORDS), 60);
	(void)state;
	struct engine_result renewed = renew(arena, &found);
	assert_int_equal(renewed.mode, ENGINE_REFRESH);
	assert_same(&renewed, &found.result);
	arena_free(arena);
}

/* The first half of the papers found is given: the others are found, too. */
static void assert_whole(const struct found *found, struct arena *arena, uint64_t seq)
{
	struct found half = *found;
	half.result.count /= 2;
	struct engine_result result = renew_after(arena, &half, seq);
	assert_int_equal(result.mode, ENGINE_SEARCH);
	assert_same(&result, &found->result);
}

static void test_the_whole_is_searched_where_it_must(void **state)
{
	struct arena *arena = arena_new();
	struct random_source noise = {26};
	struct found found = find(arena, sample_text(arena, &noise, 6, GENERATED_WORDS), 60);
	(void)state;
	assert_whole(&found, arena, last + 1); /* another replica was ahead */
	assert_whole(&found, arena, 1);        /* nearly all has changed since */
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_renewal_is_the_search, load, unload),
		cmocka_unit_test_setup_teardown(test_a_merge_keeps_what_has_changed, load, unload),
		cmocka_unit_test_setup_teardown(test_what_has_changed_enters_and_leaves, load,
	                                        unload),
		cmocka_unit_test_setup_teardown(test_a_better_paper_moves_the_query, load, unload),
		cmocka_unit_test_setup_teardown(test_papers_are_left_out, load, unload),
		cmocka_unit_test_setup_teardown(test_papers_are_left_out_without_vectors,
	                                        load_without_vectors, unload),
		cmocka_unit_test_setup_teardown(test_what_is_left_out_stays_out, load, unload),
		cmocka_unit_test_setup_teardown(test_nothing_has_changed, load, unload),
		cmocka_unit_test_setup_teardown(test_the_whole_is_searched_where_it_must, load,
	                                        unload),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
