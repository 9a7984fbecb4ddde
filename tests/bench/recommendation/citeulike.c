#include "recommendation/citeulike.h"

#include "preference/logistic.h"

#include <yyjson.h>
#include <zlib.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	BACKGROUND = 500,
	RECALL_DEPTH = 50,
	LINE_MAX_BYTES = 1 << 20,
	TRIALS_LEFT_MIN = 10, /* papers of a library that are left to be found */
};

/* xorshift64* (Vigna, 2016): gives the same sequence on every machine. */
static uint64_t random_next(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1du;
}

static void shuffle(uint32_t *numbers, size_t count, uint64_t seed)
{
	uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
	for (size_t i = count; i > 1; i--) {
		size_t j = random_next(&state) % i;
		uint32_t kept = numbers[i - 1];
		numbers[i - 1] = numbers[j];
		numbers[j] = kept;
	}
}

typedef void line_cb(void *context, yyjson_val *object);

/* Call `cb` for each line of a JSON Lines file, compressed or not. False when the file is
 * missing. */
static bool lines_each(const char *path, line_cb *cb, void *context)
{
	gzFile file = gzopen(path, "rb");
	if (!file)
		return false;
	char *line = malloc(LINE_MAX_BYTES);
	require(line);
	while (gzgets(file, line, LINE_MAX_BYTES)) {
		yyjson_doc *doc = yyjson_read(line, strlen(line), 0);
		require(doc);
		cb(context, yyjson_doc_get_root(doc));
		yyjson_doc_free(doc);
	}
	free(line);
	gzclose(file);
	return true;
}

/* The corpus while it is read. */
struct corpus {
	struct arena *arena;
	struct word_splitter *splitter;
	struct bag **bags;
	char **ids;
	size_t count;
	size_t capacity;
};

/* Set the dense vector of each bag from the file. */
static void dense_load(struct corpus *corpus, const char *path)
{
	FILE *file = fopen(path, "rb");
	require(file);
	require(fseek(file, 0, SEEK_END) == 0);
	size_t total = (size_t)ftell(file) / sizeof(float);
	require(total > 0 && corpus->count > 0 && total % corpus->count == 0);
	rewind(file);
	float *vectors = arena_array(corpus->arena, total, sizeof(float));
	require(fread(vectors, sizeof(float), total, file) == total);
	fclose(file);
	size_t length = total / corpus->count;
	for (size_t i = 0; i < corpus->count; i++) {
		corpus->bags[i]->dense = vectors + i * length;
		corpus->bags[i]->dense_length = (uint32_t)length;
		corpus->bags[i]->dense_space = 1;
	}
}

static const char *text_of(yyjson_val *object, const char *name)
{
	return yyjson_get_str(yyjson_obj_get(object, name));
}

static void corpus_add(void *context, yyjson_val *object)
{
	struct corpus *corpus = context;
	if (corpus->count == corpus->capacity) {
		size_t old = corpus->capacity, grown = old * 2 + 4096;
		corpus->bags = arena_grow(corpus->arena, corpus->bags, old * sizeof(void *),
		                          grown * sizeof(void *));
		corpus->ids = arena_grow(corpus->arena, corpus->ids, old * sizeof(void *),
		                         grown * sizeof(void *));
		corpus->capacity = grown;
	}
	struct paper_text paper = {.title = text_of(object, "title"),
	                           .abstract = text_of(object, "text")};
	corpus->ids[corpus->count] = arena_strdup(corpus->arena, text_of(object, "_id"));
	corpus->bags[corpus->count++] = bag_new(corpus->arena, corpus->splitter, &paper);
}

/* The users while they are read. */
struct users {
	struct collection *collection;
	uint32_t *index_of; /* index of a paper by its id, which is a small number here */
	size_t id_limit;    /* greatest id + 1 */
	size_t capacity;
};

static void users_add(void *context, yyjson_val *object)
{
	struct users *users = context;
	struct collection *collection = users->collection;
	if (collection->library_count == users->capacity) {
		size_t old = users->capacity, grown = old * 2 + 512;
		collection->libraries =
			arena_grow(collection->arena, collection->libraries,
		                   old * sizeof(struct library), grown * sizeof(struct library));
		users->capacity = grown;
	}
	yyjson_val *liked = yyjson_obj_get(object, "liked");
	struct library *library = &collection->libraries[collection->library_count++];
	library->papers = arena_array(collection->arena, yyjson_arr_size(liked), sizeof(uint32_t));
	size_t i, max;
	yyjson_val *id;
	yyjson_arr_foreach (liked, i, max, id) {
		size_t number = strtoul(yyjson_get_str(id), NULL, 10);
		require(number < users->id_limit);
		library->papers[library->count++] = users->index_of[number];
	}
}

static void users_load(struct collection *collection, const struct corpus *corpus,
                       const char *directory)
{
	struct users users = {.collection = collection};
	for (size_t i = 0; i < corpus->count; i++)
		users.id_limit = MAX_OF(users.id_limit, strtoul(corpus->ids[i], NULL, 10) + 1);
	users.index_of = arena_array(collection->arena, users.id_limit, sizeof(uint32_t));
	for (size_t i = 0; i < corpus->count; i++)
		users.index_of[strtoul(corpus->ids[i], NULL, 10)] = (uint32_t)i;
	collection->libraries = arena_alloc(collection->arena, 0);
	char *plain = arena_printf(collection->arena, "%s/users.jsonl", directory);
	char *packed = arena_printf(collection->arena, "%s/users.jsonl.gz", directory);
	require(lines_each(plain, users_add, &users) || lines_each(packed, users_add, &users));
}

struct collection *collection_load(const char *directory, const char *dense_path)
{
	struct arena *arena = arena_new();
	struct corpus corpus = {.arena = arena, .splitter = word_splitter_new(arena)};
	corpus.bags = arena_alloc(arena, 0);
	corpus.ids = arena_alloc(arena, 0);
	char *path = arena_printf(arena, "%s/corpus.jsonl.gz", directory);
	if (!lines_each(path, corpus_add, &corpus)) {
		arena_free(arena);
		return NULL;
	}
	if (dense_path)
		dense_load(&corpus, dense_path);
	struct collection *collection = arena_new_of(arena, struct collection);
	collection->arena = arena;
	collection->frequencies =
		frequency_table_new(arena, (const struct bag *const *)corpus.bags, corpus.count);
	collection->papers = arena_array(arena, corpus.count, sizeof(void *));
	collection->paper_count = corpus.count;
	collection->texts = arena_array(arena, corpus.count, sizeof(void *));
	for (size_t i = 0; i < corpus.count; i++) {
		struct bag text = *corpus.bags[i];
		text.dense_length = 0;
		collection->texts[i] = features_new(arena, collection->frequencies, &text);
		collection->papers[i] =
			features_new(arena, collection->frequencies, corpus.bags[i]);
	}
	users_load(collection, &corpus, directory);
	return collection;
}

void collection_free(struct collection *collection)
{
	if (collection)
		arena_free(collection->arena);
}

/* The evaluation of one user. `role` of a paper: 0 not in the library, 1 in it and to be found, 2
 * known to the model. */
struct evaluation {
	const struct collection *collection;
	struct arena *arena;
	unsigned char *role;
	const struct features *text; /* of the interest */
	struct preference_example *known;
	size_t known_count;
	const struct features **background;
	size_t background_count;
};

static int compare_descending(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;
	return (left < right) - (left > right);
}

/* Whether trials of a paper of the library work: by chance, or where it is nearer to the paper that
 * decides than the middle one of the library is. */
static bool works(const struct evaluation *evaluation, const struct trials *trials, uint32_t paper,
                  uint32_t decides, double middle, uint64_t *state)
{
	const struct features *const *papers = evaluation->collection->papers;
	if (!trials->has_subject)
		return random_next(state) % 2;
	return features_dot(papers[paper], papers[decides]) >= middle;
}

static double middle_similarity(const struct evaluation *evaluation, const uint32_t *order,
                                size_t count)
{
	const struct features *const *papers = evaluation->collection->papers;
	double *similar = arena_array(evaluation->arena, count, sizeof(double));
	for (size_t i = 0; i + 1 < count; i++)
		similar[i] = features_dot(papers[order[i]], papers[order[count - 1]]);
	qsort(similar, count - 1, sizeof(double), compare_descending);
	return similar[(count - 1) / 2];
}

/* Of the library behind the known papers, `trials->count` were tried: each is an example as its
 * outcome says. What is to be found is what would work. */
static void try_papers(struct evaluation *evaluation, const uint32_t *order, size_t count,
                       const struct trials *trials, uint64_t seed)
{
	uint64_t state = seed * 0x9e3779b97f4a7c15u + 3;
	uint32_t decides = order[count - 1];
	double middle = middle_similarity(evaluation, order, count);
	size_t first = evaluation->known_count;
	for (size_t i = first; i + 1 < count; i++) {
		bool has_worked = works(evaluation, trials, order[i], decides, middle, &state);
		bool is_tried = i < first + trials->count;
		int signal = has_worked ? trials->worked : trials->failed;
		if (!is_tried && trials->has_subject && !has_worked)
			evaluation->role[order[i]] = 0;
		if (!is_tried)
			continue;
		evaluation->role[order[i]] = 2;
		if (signal != TRIAL_UNUSED)
			evaluation->known[evaluation->known_count++] = (struct preference_example){
				evaluation->collection->papers[order[i]],
				(enum preference_signal)signal};
	}
	evaluation->role[decides] = 2;
}

static void split_library(struct evaluation *evaluation, const struct library *library,
                          size_t known, const struct trials *trials, uint64_t seed)
{
	size_t count = library->count;
	uint32_t *order = arena_memdup(evaluation->arena, library->papers, count * sizeof(*order));
	shuffle(order, count, seed);
	evaluation->known_count = known == KNOWN_HALF ? count / 2 : known;
	evaluation->known = arena_array(evaluation->arena, count, sizeof(*evaluation->known));
	evaluation->text = evaluation->collection->texts[order[0]];
	for (size_t i = 0; i < count; i++) {
		evaluation->role[order[i]] = i < evaluation->known_count ? 2 : 1;
		if (i < evaluation->known_count)
			evaluation->known[i] = (struct preference_example){
				evaluation->collection->papers[order[i]], SIGNAL_LIKE};
	}
	if (trials)
		try_papers(evaluation, order, count, trials, seed);
}

/* Choose random papers that are not known. As in the service, some may be in the library. */
static void choose_background(struct evaluation *evaluation, uint64_t seed)
{
	uint64_t state = seed * 0x9e3779b97f4a7c15u + 7;
	evaluation->background = arena_array(evaluation->arena, BACKGROUND, sizeof(void *));
	while (evaluation->background_count < BACKGROUND) {
		size_t index = random_next(&state) % evaluation->collection->paper_count;
		if (evaluation->role[index] != 2)
			evaluation->background[evaluation->background_count++] =
				evaluation->collection->papers[index];
	}
}

/* Rank all papers except the known ones, and measure where the rest of the library is. */
static void measure(const struct evaluation *evaluation, const struct preference_model *model,
                    struct measures *sum)
{
	const struct collection *collection = evaluation->collection;
	double *scores = arena_array(evaluation->arena, collection->paper_count, sizeof(double));
	double *labels = arena_array(evaluation->arena, collection->paper_count, sizeof(double));
	size_t count = 0, relevant = 0, found = 0;
	for (size_t i = 0; i < collection->paper_count; i++) {
		if (evaluation->role[i] == 2)
			continue;
		labels[count] = evaluation->role[i] == 1 ? 1 : -1;
		relevant += evaluation->role[i] == 1;
		scores[count++] = preference_raw_score(model, collection->papers[i]);
	}
	double *ordered = arena_memdup(evaluation->arena, scores, count * sizeof(double));
	qsort(ordered, count, sizeof(double), compare_descending);
	for (size_t i = 0; i < count; i++)
		found += labels[i] > 0 && scores[i] >= ordered[RECALL_DEPTH - 1];
	sum->auc += auc(scores, labels, count);
	sum->recall_at_50 += (double)found / (double)relevant;
}

static void measures_divide(struct measures *sum, size_t users)
{
	sum->auc /= (double)users;
	sum->recall_at_50 /= (double)users;
}

struct quality collection_quality_tried(const struct collection *collection, size_t known,
                                        const struct trials *trials, size_t stride)
{
	struct quality sum = {0};
	for (size_t user = 0; user < collection->library_count; user += stride) {
		if (trials &&
		    collection->libraries[user].count < known + trials->count + TRIALS_LEFT_MIN)
			continue;
		struct arena *arena = arena_new();
		struct evaluation evaluation = {.collection = collection, .arena = arena};
		evaluation.role = arena_alloc(arena, collection->paper_count);
		split_library(&evaluation, &collection->libraries[user], known, trials, user + 1);
		choose_background(&evaluation, user + 1);
		struct preference_input input = {
			.frequencies = collection->frequencies,
			.interest = evaluation.text,
			.examples = evaluation.known,
			.example_count = evaluation.known_count,
			.background = evaluation.background,
			.background_count = evaluation.background_count,
		};
		const char *message = NULL;
		struct preference_model *model = preference_fit(arena, &input, &message);
		require(model);
		measure(&evaluation, preference_prior(arena, &input), &sum.prior);
		measure(&evaluation, model, &sum.fitted);
		sum.users++;
		arena_free(arena);
	}
	measures_divide(&sum.prior, sum.users);
	measures_divide(&sum.fitted, sum.users);
	return sum;
}

struct quality collection_quality(const struct collection *collection, size_t known, size_t stride)
{
	return collection_quality_tried(collection, known, NULL, stride);
}
