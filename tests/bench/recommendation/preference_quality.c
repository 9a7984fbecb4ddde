/* Quality of the preference model (citeulike.h), compared with other methods.
 *
 *     preference_quality [DATA_DIRECTORY [STRIDE [DENSE_DIRECTORY]]]
 *
 * Measures every STRIDE-th user; if DENSE_DIRECTORY is given, only the collections whose embeddings
 * are in DENSE_DIRECTORY/COLLECTION.f32, with these. */
#include "recommendation/citeulike.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The results of another method, on terms only. */
struct anchor {
	const char *method;
	double auc;
	double recall_at_50;
};

struct setting {
	const char *collection;
	size_t known;
	const char *label;
	struct anchor anchors[4];
};

static const struct setting settings[] = {
	{"citeulike-a-sub",
         3,
         "3 likes",
         {{"tf-idf centroid", .820, .343},
          {"linear SVM, C 0.01", .820, .346},
          {"logistic, 500 negatives", .818, .346},
          {"best, with LSA", .824, .355}}},
	{"citeulike-a-sub",
         KNOWN_HALF,
         "half a library",
         {{"tf-idf centroid", .857, .365},
          {"linear SVM, C 0.01", .868, .397},
          {"logistic, 500 negatives", .861, .384},
          {"best, with LSA", .867, .406}}},
	{"citeulike-t",
         3,
         "3 likes",
         {{"tf-idf centroid", .795, .133},
          {"linear SVM, C 0.01", .741, .135},
          {"logistic, 500 negatives", .784, .133},
          {"best, with LSA", .830, .135}}},
	{"citeulike-t",
         KNOWN_HALF,
         "half a library",
         {{"tf-idf centroid", .867, .167},
          {"linear SVM, C 0.01", .861, .170},
          {"logistic, 500 negatives", .871, .176},
          {"best, with LSA", .885, .185}}},
};

static void measures_print(const char *method, const struct measures *measures)
{
	printf("  %-24s AUC %.3f  Recall@50 %.3f\n", method, measures->auc, measures->recall_at_50);
}

static void setting_print(const struct setting *setting, const struct quality *quality)
{
	printf("%s, %s, %zu users\n", setting->collection, setting->label, quality->users);
	measures_print("the prior", &quality->prior);
	measures_print("this model", &quality->fitted);
	for (size_t i = 0; i < ARRAY_LEN(setting->anchors); i++)
		printf("  %-24s     %.3f            %.3f\n", setting->anchors[i].method,
		       setting->anchors[i].auc, setting->anchors[i].recall_at_50);
}

int main(int argc, char **argv)
{
	const char *data = argc > 1 ? argv[1] : "../shared/data";
	size_t stride = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
	const char *dense = argc > 3 ? argv[3] : NULL;
	for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
		char path[4096], dense_path[4096];
		snprintf(path, sizeof(path), "%s/%s", data, settings[i].collection);
		snprintf(dense_path, sizeof(dense_path), "%s/%s.f32", dense ? dense : "",
		         settings[i].collection);
		bool has_dense = dense && access(dense_path, R_OK) == 0;
		if (dense && !has_dense)
			continue;
		struct collection *collection =
			collection_load(path, has_dense ? dense_path : NULL);
		if (!collection) {
			fprintf(stderr, "no collection at '%s'\n", path);
			return 1;
		}
		struct quality quality =
			collection_quality(collection, settings[i].known, MAX_OF(stride, 1u));
		setting_print(&settings[i], &quality);
		collection_free(collection);
	}
	return 0;
}
