/* Search quality must not fall: nDCG@10 and Recall@100 on the collections in `../shared/data`,
 * compared with floors slightly below the values measured when they were set. A missing collection
 * is skipped, or fails the test when the environment variable CI is set. */
#include "engine/engine.h"
#include "search/judged.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define DEPTH 100

/* The exit code that Meson reports as skipped. */
#define SKIPPED 77

struct floor {
	const char *collection;
	double ndcg;   /* measured: .434, .440, .509, .489 */
	double recall; /* measured: .833, .517, .763, .785 */
};

static const struct floor floors[] = {
	{"cranfield", .425, .820},
	{"cisi", .430, .505},
	{"cacm", .498, .745},
	{"lisa", .480, .770},
};

static bool is_ci(void)
{
	const char *ci = getenv("CI");
	return ci && *ci;
}

static const char *folder_of(struct arena *arena, const char *collection)
{
	const char *root = getenv("SOURCE_ROOT");
	return arena_printf(arena, "%s/../shared/data/%s", root ? root : ".", collection);
}

/* Add the quality of one ranking to `ndcg` and `recall`. */
static void judge(const struct engine_view *view, const struct judged_query *query, double *ndcg,
                  double *recall)
{
	struct arena *arena = arena_new();
	struct engine_query request = {.text = query->text,
	                               .length = strlen(query->text),
	                               .limit = DEPTH};
	struct engine_result result = engine_search(view, &request, arena);
	const char *ids[DEPTH];
	for (size_t i = 0; i < result.count; i++)
		ids[i] = result.hits[i].id;
	*ndcg += judged_ndcg10(query, ids, result.count);
	*recall += judged_recall100(query, ids, result.count);
	arena_free(arena);
}

static void test_reaches_floor(void **state)
{
	const struct floor *floor = *state;
	struct arena *arena = arena_new();
	struct judged *judged = judged_load(arena, folder_of(arena, floor->collection), false);
	if (!judged) {
		arena_free(arena);
		if (is_ci())
			fail_msg("the collection %s is missing", floor->collection);
		print_message("skipped: the collection %s is missing\n", floor->collection);
		skip();
	}
	struct engine *engine = judged_index(judged);
	struct engine_view *view = engine_view_get(engine);
	double ndcg = 0;
	double recall = 0;
	for (size_t i = 0; i < judged->query_count; i++)
		judge(view, &judged->queries[i], &ndcg, &recall);
	ndcg /= (double)judged->query_count;
	recall /= (double)judged->query_count;
	print_message("%s: nDCG@10 %.3f, Recall@100 %.3f\n", floor->collection, ndcg, recall);
	assert_true(ndcg >= floor->ndcg);
	assert_true(recall >= floor->recall);
	engine_view_put(view);
	engine_free(engine);
	arena_free(arena);
}

static bool has_any_collection(void)
{
	struct arena *arena = arena_new();
	bool has_any = false;
	for (size_t i = 0; i < ARRAY_LEN(floors); i++)
		has_any |= access(folder_of(arena, floors[i].collection), R_OK) == 0;
	arena_free(arena);
	return has_any;
}

int main(void)
{
	if (!has_any_collection() && !is_ci()) {
		fprintf(stderr, "skipped: no judged collections in ../shared/data\n");
		return SKIPPED;
	}
	struct CMUnitTest tests[ARRAY_LEN(floors)];
	for (size_t i = 0; i < ARRAY_LEN(floors); i++)
		tests[i] = (struct CMUnitTest){.name = floors[i].collection,
		                               .test_func = test_reaches_floor,
		                               .initial_state = (void *)&floors[i]};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
