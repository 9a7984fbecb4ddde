/* Quality of the built-in embedder alone, on the libraries of CiteULike users in `../shared/data`
 * (or the given folder): three papers of a library are known, all others are ranked by their
 * cosines with the mean of the vectors of the three, and the rest of the library is to be found.
 *
 *     build/tests/bench/embedder_quality [data folder [folder for vectors]]
 *
 * With the second folder, writes the vectors of the papers to COLLECTION.f32 there, which
 * preference_quality and preference_api.py read: floats, a row for each paper, in the order of the
 * corpus. */
#include "engine/engine.h"
#include "search/judged.h"

#include <yyjson.h>
#include <zlib.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KNOWN        3
#define RECALL_DEPTH 50

/* Maximum bytes of a line, and papers of a library. */
#define LINE_MAX_BYTES   (1 << 20)
#define LIBRARY_CAPACITY 5000

struct anchor {
	const char *collection;
	double auc; /* by latent semantic analysis alone, with as many dimensions */
	double recall;
};

static const struct anchor anchors[] = {{"citeulike-a-sub", .824, .329},
                                        {"citeulike-t", .843, .121}};

/* The vectors of all papers. */
struct papers {
	const struct judged *judged;
	float *vectors; /* by paper; zero when it has none */
	uint32_t dimension;
	uint32_t *number_of; /* paper + 1 by its id, which is a small number here */
	size_t id_limit;
};

struct measures {
	double auc;
	double recall;
	size_t users;
};

static void embed_papers(struct arena *arena, const struct judged *judged, struct papers *papers)
{
	struct engine *engine = judged_index(judged);
	struct engine_view *view = engine_view_get(engine);
	papers->judged = judged;
	papers->dimension = engine_dimension(view);
	papers->vectors =
		arena_array(arena, judged->document_count * papers->dimension, sizeof(float));
	for (size_t i = 0; i < judged->document_count; i++) {
		const char *id = judged->documents[i].id;
		engine_vector(view, id, papers->vectors + i * papers->dimension);
		papers->id_limit = MAX_OF(papers->id_limit, strtoul(id, NULL, 10) + 1);
	}
	papers->number_of = arena_array(arena, papers->id_limit, sizeof(uint32_t));
	for (size_t i = 0; i < judged->document_count; i++)
		papers->number_of[strtoul(judged->documents[i].id, NULL, 10)] = (uint32_t)i + 1;
	engine_view_put(view);
	engine_free(engine);
}

static void write_vectors(struct arena *arena, const struct papers *papers, const char *folder,
                          const char *collection)
{
	FILE *file = fopen(arena_printf(arena, "%s/%s.f32", folder, collection), "wb");
	size_t count = papers->judged->document_count * papers->dimension;
	require(file && fwrite(papers->vectors, sizeof(float), count, file) == count);
	require(fclose(file) == 0);
}

/* xorshift64* (Vigna, 2016): the same libraries are split alike on every machine. */
static void shuffle(uint32_t *numbers, size_t count, uint64_t seed)
{
	uint64_t state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
	for (size_t i = count; i > 1; i--) {
		state ^= state >> 12;
		state ^= state << 25;
		state ^= state >> 27;
		size_t j = state * UINT64_C(0x2545F4914F6CDD1D) % i;
		uint32_t kept = numbers[i - 1];
		numbers[i - 1] = numbers[j];
		numbers[j] = kept;
	}
}

static const float *vector_of(const struct papers *papers, size_t paper)
{
	return papers->vectors + paper * papers->dimension;
}

static float score_of(const struct papers *papers, const uint32_t *known, size_t paper)
{
	float score = 0;
	for (size_t i = 0; i < KNOWN; i++)
		for (uint32_t d = 0; d < papers->dimension; d++)
			score += vector_of(papers, known[i])[d] * vector_of(papers, paper)[d];
	return score;
}

struct ranked {
	float score;
	bool is_relevant;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *left = a;
	const struct ranked *right = b;
	return (left->score < right->score) - (left->score > right->score);
}

/* Rank all papers but the known ones of `library`, which has them first. */
static void measure_user(const struct papers *papers, const uint32_t *library, size_t size,
                         struct measures *sum)
{
	size_t count = 0;
	size_t below = 0; /* irrelevant papers above each relevant one, summed */
	size_t irrelevant = 0;
	size_t found = 0;
	struct ranked *ranked = calloc(papers->judged->document_count, sizeof(*ranked));
	unsigned char *roles = calloc(papers->judged->document_count, 1);
	require(ranked && roles);
	for (size_t i = 0; i < size; i++)
		roles[library[i]] = i < KNOWN ? 2 : 1;
	for (size_t paper = 0; paper < papers->judged->document_count; paper++)
		if (roles[paper] != 2)
			ranked[count++] = (struct ranked){score_of(papers, library, paper),
			                                  roles[paper] == 1};
	qsort(ranked, count, sizeof(*ranked), compare_ranked);
	for (size_t i = 0; i < count; i++) {
		found += ranked[i].is_relevant && i < RECALL_DEPTH;
		below += ranked[i].is_relevant ? irrelevant : 0;
		irrelevant += !ranked[i].is_relevant;
	}
	double relevant = (double)(size - KNOWN);
	sum->auc += 1 - (double)below / (relevant * (double)irrelevant);
	sum->recall += (double)found / relevant;
	sum->users++;
	free(ranked);
	free(roles);
}

static void measure_line(const struct papers *papers, const char *line, struct measures *sum)
{
	static uint32_t library[LIBRARY_CAPACITY];
	yyjson_doc *doc = yyjson_read(line, strlen(line), 0);
	yyjson_val *liked = yyjson_obj_get(yyjson_doc_get_root(doc), "liked");
	size_t size = 0;
	size_t i, max;
	yyjson_val *id;
	yyjson_arr_foreach (liked, i, max, id) {
		size_t number = strtoul(yyjson_get_str(id), NULL, 10);
		require(number < papers->id_limit && papers->number_of[number] > 0);
		require(size < LIBRARY_CAPACITY);
		library[size++] = papers->number_of[number] - 1;
	}
	yyjson_doc_free(doc);
	shuffle(library, size, sum->users + 1);
	if (size > KNOWN)
		measure_user(papers, library, size, sum);
}

static struct measures measure_users(struct arena *arena, const struct papers *papers,
                                     const char *folder)
{
	struct measures sum = {0};
	const char *path = arena_printf(arena, "%s/users.jsonl", folder);
	if (access(path, R_OK) != 0)
		path = arena_printf(arena, "%s.gz", path);
	gzFile file = gzopen(path, "rb");
	char *line = arena_alloc(arena, LINE_MAX_BYTES);
	require(file);
	while (gzgets(file, line, LINE_MAX_BYTES))
		measure_line(papers, line, &sum);
	gzclose(file);
	return sum;
}

static void measure(const char *folder, const struct anchor *anchor, const char *out)
{
	struct arena *arena = arena_new();
	const char *path = arena_printf(arena, "%s/%s", folder, anchor->collection);
	struct judged *judged = judged_load_papers(arena, path);
	if (!judged) {
		printf("%-16s missing in %s\n", anchor->collection, folder);
		arena_free(arena);
		return;
	}
	struct papers papers = {0};
	embed_papers(arena, judged, &papers);
	if (out)
		write_vectors(arena, &papers, out, anchor->collection);
	struct measures sum = measure_users(arena, &papers, path);
	printf("%-16s %6zu users  AUC %.3f (LSA %.3f)  Recall@50 %.3f (LSA %.3f)\n",
	       anchor->collection, sum.users, sum.auc / (double)sum.users, anchor->auc,
	       sum.recall / (double)sum.users, anchor->recall);
	arena_free(arena);
}

int main(int argc, char **argv)
{
	struct arena *arena = arena_new();
	const char *folder = judged_folder(arena, argc, argv);
	for (size_t i = 0; i < ARRAY_LEN(anchors); i++)
		measure(folder, &anchors[i], argc > 2 ? argv[2] : NULL);
	arena_free(arena);
	return 0;
}
