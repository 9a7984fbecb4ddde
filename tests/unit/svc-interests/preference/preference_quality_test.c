#include "citeulike.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* Least that the model must reach on every second user of citeulike-a-sub; it has .823 and .335
 * with three likes, .871 and .425 with half a library. */
static const struct {
	size_t known;
	double auc;
	double recall_at_50;
} floors[] = {
	{3, .815, .320},
	{KNOWN_HALF, .863, .405},
};

static void test_citeulike_a(void **state)
{
	(void)state;
	const char *root = getenv("SOURCE_ROOT");
	char path[4096];
	snprintf(path, sizeof(path), "%s/../shared/data/citeulike-a-sub", root ? root : ".");
	struct collection *collection = collection_load(path, NULL);
	if (!collection) {
		print_message("skipped: no collection at '%s'\n", path);
		skip();
	}
	for (size_t i = 0; i < ARRAY_LEN(floors); i++) {
		struct quality quality = collection_quality(collection, floors[i].known, 2);
		print_message("AUC %.3f, Recall@50 %.3f, %zu users\n", quality.auc,
		              quality.recall_at_50, quality.users);
		assert_true(quality.auc >= floors[i].auc);
		assert_true(quality.recall_at_50 >= floors[i].recall_at_50);
	}
	collection_free(collection);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_citeulike_a),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
