/* Quality must not fall: nDCG@10 of the engine on the collections of `../shared/data`, against
 * floors a little under what it reached when they were set. Exits with 77 (skipped) where none of
 * them is there. */
#include "engine/engine.h"
#include "judged.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define DEPTH 100

/* What meson takes for "skipped". */
#define SKIPPED 77

struct floor {
	const char *collection;
	double ndcg;   /* reached: .412, .433, .497, .489 */
	double recall; /* reached: .791, .483, .694, .778 */
};

static const struct floor floors[] = {
	{"cranfield", .405, .780},
	{"cisi", .425, .475},
	{"cacm", .487, .680},
	{"lisa", .480, .760},
};

static const char *folder_of(struct arena *arena, const char *collection)
{
	const char *root = getenv("SOURCE_ROOT");
	return arena_printf(arena, "%s/../shared/data/%s", root ? root : ".", collection);
}

static struct engine *load(const struct judged *judged)
{
	struct engine *engine = engine_new(NULL);
	struct engine_merge *merge = engine_load_new(engine, judged->document_count);
	for (size_t i = 0; i < judged->document_count; i++)
		engine_merge_add(merge, &judged->documents[i]);
	engine_merge_run(merge);
	engine_merge_commit(engine, merge);
	return engine;
}

static void judge(const struct engine_view *view, const struct judged_query *query, double *ndcg,
                  double *recall)
{
	struct arena *arena = arena_new();
	struct engine_query asked = {.text = query->text,
	                             .length = strlen(query->text),
	                             .limit = DEPTH};
	struct engine_result result = engine_search(view, &asked, arena);
	const char *ids[DEPTH];
	for (size_t i = 0; i < result.count; i++)
		ids[i] = result.hits[i].id;
	*ndcg += judged_ndcg10(query, ids, result.count);
	*recall += judged_recall100(query, ids, result.count);
	arena_free(arena);
}

static void test_floor(void **state)
{
	const struct floor *least = *state;
	struct arena *arena = arena_new();
	struct judged *judged = judged_load(arena, folder_of(arena, least->collection), false);
	double ndcg = 0;
	double recall = 0;
	if (!judged) {
		print_message("%s is not there\n", least->collection);
		arena_free(arena);
		skip();
		return;
	}
	struct engine *engine = load(judged);
	struct engine_view *view = engine_view_get(engine);
	for (size_t i = 0; i < judged->query_count; i++)
		judge(view, &judged->queries[i], &ndcg, &recall);
	ndcg /= (double)judged->query_count;
	recall /= (double)judged->query_count;
	print_message("%s: nDCG@10 %.3f, Recall@100 %.3f\n", least->collection, ndcg, recall);
	assert_true(ndcg >= least->ndcg);
	assert_true(recall >= least->recall);
	engine_view_put(view);
	engine_free(engine);
	arena_free(arena);
}

static bool is_anything_there(void)
{
	struct arena *arena = arena_new();
	bool is_there = false;
	for (size_t i = 0; i < ARRAY_LEN(floors); i++)
		is_there |= access(folder_of(arena, floors[i].collection), R_OK) == 0;
	arena_free(arena);
	return is_there;
}

int main(void)
{
	if (!is_anything_there()) {
		fprintf(stderr, "no collections in ../shared/data: skipped\n");
		return SKIPPED;
	}
	struct CMUnitTest tests[ARRAY_LEN(floors)];
	for (size_t i = 0; i < ARRAY_LEN(floors); i++)
		tests[i] = (struct CMUnitTest){.name = floors[i].collection,
		                               .test_func = test_floor,
		                               .initial_state = (void *)&floors[i]};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
