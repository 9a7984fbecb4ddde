#include "engine/lexical/topk.h"

#include "corpus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static int compare(const void *a, const void *b)
{
	const struct hit *left = a;
	const struct hit *right = b;
	if (left->score < right->score || left->score > right->score)
		return left->score > right->score ? -1 : 1;
	return left->doc < right->doc ? -1 : left->doc > right->doc;
}

static void best_hits_are_kept_in_any_order_of_offers(void **state attr_unused)
{
	struct random_source noise = {21};
	for (int round = 0; round < 500; round++) {
		size_t count = random_below(&noise, 200);
		size_t capacity = 1 + random_below(&noise, 50);
		struct hit kept[50];
		struct topk top;
		topk_init(&top, kept, capacity, 0);
		struct hit all[200];
		for (size_t i = 0; i < count; i++) {
			all[i].doc = random_below(&noise, 1000) * 200 + (uint32_t)i;
			all[i].score = 1.0f + (float)random_below(&noise, 20);
			topk_offer(&top, all[i].doc, all[i].score);
		}
		qsort(all, count, sizeof(*all), compare);
		topk_sort(&top);
		assert_int_equal(top.count, MIN_OF(count, capacity));
		assert_memory_equal(kept, all, top.count * sizeof(*all));
	}
}

static void scores_not_above_zero_are_ignored(void **state attr_unused)
{
	struct hit kept[2];
	struct topk top;
	topk_init(&top, kept, 2, 0);
	topk_offer(&top, 1, 0);
	topk_offer(&top, 2, -1);
	topk_offer(&top, 3, 0.0f / 0.0f);
	assert_int_equal(top.count, 0);
	assert_true(top.threshold == 0);
	topk_offer(&top, 4, 1);
	assert_true(top.threshold == 0);
	topk_offer(&top, 5, 2);
	assert_true(top.threshold == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(best_hits_are_kept_in_any_order_of_offers),
		cmocka_unit_test(scores_not_above_zero_are_ignored),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
