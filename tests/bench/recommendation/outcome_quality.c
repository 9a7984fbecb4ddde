/* What outcomes of trials are worth to the preference model, by how much they weigh (citeulike.h).
 *
 *     outcome_quality [DATA_DIRECTORY [STRIDE]]
 *
 * There is no collection of research papers with outcomes of experiments, so they are made: some
 * papers of a library, which its user took for fitting, are tried, and half of them work; by
 * chance, or by what they are about. Each row counts the outcomes by signals whose weights are in
 * training_set.c: the fourth row is how the service counts them. */
#include "recommendation/citeulike.h"

#include <stdio.h>
#include <stdlib.h>

enum { TRIALS = 6 };

static const struct {
	const char *name;
	int worked, failed;
} ROWS[] = {
	{"outcomes unused", TRIAL_UNUSED, TRIAL_UNUSED},
	{"worked 1", SIGNAL_LIKE, TRIAL_UNUSED},
	{"worked 2", SIGNAL_IMPLEMENTED, TRIAL_UNUSED},
	{"worked 1, failed -.5", SIGNAL_LIKE, SIGNAL_DISMISS},
	{"worked 1, failed -1", SIGNAL_LIKE, SIGNAL_DISLIKE},
	{"worked 1, failed +1", SIGNAL_LIKE, SIGNAL_LIKE},
};

static void measure(const struct collection *collection, const char *name, size_t known,
                    bool has_subject, size_t stride)
{
	printf("%s, %zu likes, %d trials, half of which work %s\n", name, known, TRIALS,
	       has_subject ? "by what they are about" : "by chance");
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		const struct trials trials = {TRIALS, ROWS[i].worked, ROWS[i].failed, has_subject};
		struct quality quality =
			collection_quality_tried(collection, known, &trials, stride);
		printf("  %-24s AUC %.3f  Recall@50 %.3f  (%zu users)\n", ROWS[i].name,
		       quality.fitted.auc, quality.fitted.recall_at_50, quality.users);
	}
}

int main(int argc, char **argv)
{
	static const char *const COLLECTIONS[] = {"citeulike-a-sub", "citeulike-t"};
	static const size_t KNOWN[] = {3, 12};
	const char *data = argc > 1 ? argv[1] : "../shared/data";
	size_t stride = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
	for (size_t i = 0; i < ARRAY_LEN(COLLECTIONS); i++) {
		char path[4096];
		snprintf(path, sizeof(path), "%s/%s", data, COLLECTIONS[i]);
		struct collection *collection = collection_load(path, NULL);
		if (!collection) {
			fprintf(stderr, "no collection at '%s'\n", path);
			return 1;
		}
		for (size_t known = 0; known < ARRAY_LEN(KNOWN); known++) {
			measure(collection, COLLECTIONS[i], KNOWN[known], false,
			        MAX_OF(stride, 1u));
			measure(collection, COLLECTIONS[i], KNOWN[known], true, MAX_OF(stride, 1u));
		}
		collection_free(collection);
	}
	return 0;
}
