/* The parts of an index: their number stays small, and a ranking does not depend on them. */
#include "engine/internal.h"
#include "engine/vector/vectors.h"
#include "engine/view.h"
#include "generated.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define HISTORY_PAPERS 900

static void apply_pages(struct engine *engine, struct engine_change *changes, size_t count,
                        size_t page)
{
	for (size_t at = 0; at < count; at += page) {
		size_t size = MIN_OF(page, count - at);
		engine_apply(engine, changes + at, size, changes[at + size - 1].document.seq);
	}
}

/* Add papers to an empty index in another order, with changes, deletions and merges on the way, and
 * with an embedder that is trained on the way if `trains`. */
static void live_through(struct arena *arena, const struct engine_change *papers, uint64_t seed,
                         bool trains, struct engine *engine)
{
	struct random_source noise = {seed};
	struct engine_change *changes = arena_array(arena, 3 * HISTORY_PAPERS, sizeof(*changes));
	size_t count = 0;
	for (uint32_t i = 0; i < HISTORY_PAPERS; i++) {
		/* Older states and papers that do not stay. */
		changes[count] = papers[random_below(&noise, HISTORY_PAPERS)];
		changes[count].document.title = sample_text(arena, &noise, 8, 2 * GENERATED_WORDS);
		if (i % 3 == 0)
			changes[count].document.id = arena_printf(arena, "gone%u", i);
		count++;
	}
	for (uint32_t i = 0; i < HISTORY_PAPERS; i += 3) {
		changes[count] = (struct engine_change){.is_deleted = true};
		changes[count++].document.id = arena_printf(arena, "gone%u", i);
	}
	for (uint32_t i = 0; i < HISTORY_PAPERS; i++)
		changes[count++] = papers[(i * 7 + seed) % HISTORY_PAPERS];
	for (size_t i = 0; i < count; i++)
		changes[i].document.seq = i + 1;
	for (size_t at = 0; at < count;) {
		size_t size = 1 + random_below(&noise, 300);
		size = MIN_OF(size, count - at);
		engine_apply(engine, changes + at, size, at + size);
		at += size;
		run_merge(engine,
		          random_below(&noise, 4) == 0 ? ENGINE_MERGE_ALL : ENGINE_MERGE_DUE);
		if (trains && random_below(&noise, 8) == 0)
			train(engine);
	}
}

static void assert_same_results(struct engine *one, struct engine *other, uint32_t words)
{
	struct random_source noise = {words};
	struct engine_view *views[] = {engine_view_get(one), engine_view_get(other)};
	assert_int_equal(engine_view_count(views[0]), engine_view_count(views[1]));
	for (int round = 0; round < 60; round++) {
		struct arena *arena = arena_new();
		struct engine_result results[2];
		const char *text = sample_text(arena, &noise, 1 + round % 9, words);
		if (round % 10 == 0) /* misspelled */
			text = arena_printf(arena, "zbcdfgh%s", text);
		for (int i = 0; i < 2; i++)
			results[i] = search_view(arena, views[i], text, 100);
		assert_int_equal(results[0].count, results[1].count);
		for (size_t i = 0; i < results[0].count; i++) {
			assert_string_equal(results[0].hits[i].id, results[1].hits[i].id);
			assert_true(results[0].hits[i].relevance == results[1].hits[i].relevance);
		}
		arena_free(arena);
	}
	engine_view_put(views[0]);
	engine_view_put(views[1]);
}

static void test_the_ranking_does_not_depend_on_the_history(void **state)
{
	struct arena *arena = arena_new();
	struct random_source noise = {111};
	struct engine *plain = engine_new("model"); /* no embedder: words only */
	struct engine_change *papers = arena_array(arena, HISTORY_PAPERS, sizeof(*papers));
	(void)state;
	for (uint32_t i = 0; i < HISTORY_PAPERS; i++)
		papers[i].document = sample_document(arena, &noise, i, GENERATED_WORDS);
	engine_apply(plain, papers, HISTORY_PAPERS, HISTORY_PAPERS);
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct engine *engine = engine_new("model");
		live_through(arena, papers, seed, false, engine);
		assert_same_results(plain, engine, GENERATED_WORDS);
		engine_free(engine);
	}
	engine_free(plain);
	arena_free(arena);
}

static struct embedder *with_lists(struct embedder *embedder, const struct engine *source)
{
	struct engine_view *view = engine_view_get((struct engine *)source);
	struct sample *sample = engine_sample(view);
	struct vectors *vectors = vectors_of_sample(embedder, sample, NULL);
	struct centroids *centroids = centroids_learn(vectors, 60, NULL);
	embedder = embedder_with_centroids(embedder, centroids);
	centroids_free(centroids);
	vectors_free(vectors);
	sample_free(sample);
	engine_view_put(view);
	return embedder;
}

static void assert_same_fingerprint(struct engine *one, struct engine *other)
{
	struct engine *engines[] = {one, other};
	uint8_t fingerprints[2][SAMPLE_FINGERPRINT_BYTES];
	for (int i = 0; i < 2; i++) {
		struct engine_view *view = engine_view_get(engines[i]);
		struct sample *sample = engine_sample(view);
		training_fingerprint(sample, fingerprints[i]);
		sample_free(sample);
		engine_view_put(view);
	}
	assert_memory_equal(fingerprints[0], fingerprints[1], SAMPLE_FINGERPRINT_BYTES);
}

static void assert_same_embedder(struct engine *engine, const struct embedder *embedder)
{
	struct engine_view *view = engine_view_get(engine);
	const struct embedder *expected = view->model->embedder;
	assert_int_equal(embedder->header->length, expected->header->length);
	assert_memory_equal(embedder->header, expected->header, expected->header->length);
	assert_string_equal(embedder->version, expected->version);
	engine_view_put(view);
}

/* The embedder is the same byte for byte, and so is the ranking, also when only some lists of the
 * vectors are searched. */
static void test_the_embedder_does_not_depend_on_the_history(void **state)
{
	struct arena *arena = arena_new();
	struct random_source noise = {114};
	struct engine *plain = engine_new(NULL);
	struct engine_change *papers = arena_array(arena, HISTORY_PAPERS, sizeof(*papers));
	(void)state;
	for (uint32_t i = 0; i < HISTORY_PAPERS; i++)
		papers[i].document = sample_document(arena, &noise, i, GENERATED_WORDS);
	engine_apply(plain, papers, HISTORY_PAPERS, HISTORY_PAPERS);
	for (uint64_t seed = 1; seed <= 4; seed++) { /* from the third on with lists of vectors */
		struct engine *engine = engine_new(NULL);
		live_through(arena, papers, seed, true, engine);
		assert_same_fingerprint(plain, engine);
		if (seed == 1)
			adopt(plain, train_on_engine(plain));
		if (seed == 3)
			adopt(plain, with_lists(train_on_engine(plain), plain));
		struct embedder *embedder = train_on_engine(engine);
		if (seed >= 3)
			embedder = with_lists(embedder, engine);
		assert_same_embedder(plain, embedder);
		adopt(engine, embedder);
		assert_same_results(plain, engine, GENERATED_WORDS);
		engine_free(engine);
	}
	engine_free(plain);
	arena_free(arena);
}

static void test_a_changed_text_changes_the_fingerprint(void **state)
{
	struct engine *engine = engine_new(NULL);
	uint8_t fingerprints[3][SAMPLE_FINGERPRINT_BYTES];
	struct engine_change change = {
		.document = {.id = "p3", .title = "zbq zcq", .abstract = "zdq", .seq = 1000}};
	(void)state;
	load_generated(engine, 200);
	for (int i = 0; i < 3; i++) {
		struct engine_view *view = engine_view_get(engine);
		struct sample *sample = engine_sample(view);
		training_fingerprint(sample, fingerprints[i]);
		sample_free(sample);
		engine_view_put(view);
		change.document.seq++;
		change.document.has_container = i > 0; /* says nothing about texts */
		engine_apply(engine, &change, 1, change.document.seq);
	}
	assert_memory_not_equal(fingerprints[0], fingerprints[1], SAMPLE_FINGERPRINT_BYTES);
	assert_memory_equal(fingerprints[1], fingerprints[2], SAMPLE_FINGERPRINT_BYTES);
	engine_free(engine);
}

/* With one embedder, parts give the same ranking as one part. */
static void test_parts_rank_as_one_part(void **state)
{
	struct arena *arena = arena_new();
	struct random_source noise = {112};
	struct engine *one = engine_new(NULL);
	struct engine *many = engine_new(NULL);
	struct engine_change *papers = arena_array(arena, HISTORY_PAPERS, sizeof(*papers));
	(void)state;
	load_generated(one, 1000);
	load_generated(many, 1000);
	for (uint32_t i = 0; i < HISTORY_PAPERS; i++) {
		papers[i].document = sample_document(arena, &noise, i + 900, GENERATED_WORDS);
		papers[i].document.seq = 1001 + i;
	}
	apply_pages(many, papers, HISTORY_PAPERS, 300);
	engine_apply(one, papers, HISTORY_PAPERS, 1000 + HISTORY_PAPERS);
	struct engine_view *view = engine_view_get(many);
	assert_true(engine_view_parts(view) >= 4);
	engine_view_put(view);
	assert_same_results(one, many, GENERATED_WORDS);
	engine_free(one);
	engine_free(many);
	arena_free(arena);
}

static struct embedder *copy_embedder(const struct engine *engine)
{
	const struct embedder *embedder = engine->view->model->embedder;
	void *copy = malloc(embedder->header->length);
	memcpy(copy, embedder->header, embedder->header->length);
	return embedder_open(copy, embedder->header->length, true);
}

/* Assert that a merge of the only part would assign no vector to a list again. */
static void assert_lists_known(const struct engine *engine)
{
	struct builder *builder = builder_new(0);
	builder_add_part(builder, engine->view, 0, true, NULL);
	struct segment *segment = builder_finish(builder);
	for (uint32_t doc = 0; doc < segment->doc_count; doc++)
		assert_true((builder_lists(builder)[doc] == SEGMENT_NONE) ==
		            (builder_vector(builder, doc) == NULL));
	segment_free(segment);
	builder_free(builder);
}

/* A merge of merged parts has the vectors and lists of a part that was built at once. */
static void test_merges_of_merges_keep_the_lists(void **state)
{
	struct arena *arena = arena_new();
	struct random_source noise = {115};
	struct engine *merged = engine_new(NULL);
	struct engine *built = engine_new(NULL);
	struct engine_change *papers = arena_array(arena, 2 * HISTORY_PAPERS, sizeof(*papers));
	(void)state;
	for (uint32_t i = 0; i < 2 * HISTORY_PAPERS; i++)
		papers[i].document = sample_document(arena, &noise, i, GENERATED_WORDS);
	engine_apply(merged, papers, HISTORY_PAPERS, HISTORY_PAPERS);
	adopt(merged, with_lists(train_on_engine(merged), merged));
	for (uint32_t at = HISTORY_PAPERS; at < 2 * HISTORY_PAPERS; at += 300) {
		apply_pages(merged, papers + at, 300, 100);
		merge(merged);
		assert_lists_known(merged);
	}
	engine_apply(built, papers, 2 * HISTORY_PAPERS, 2 * HISTORY_PAPERS);
	adopt(built, copy_embedder(merged));
	const struct part *one = merged->view->parts[0].part;
	const struct part *other = built->view->parts[0].part;
	assert_int_equal(merged->view->part_count, 1);
	assert_int_equal(built->view->part_count, 1);
	assert_memory_equal(one->vectors->header, other->vectors->header,
	                    other->vectors->header->length);
	assert_memory_equal(one->ivf->header, other->ivf->header, other->ivf->header->length);
	assert_same_results(built, merged, GENERATED_WORDS);
	engine_free(merged);
	engine_free(built);
	arena_free(arena);
}

/* Enough papers that a merge writes a file. */
#define FILE_PAPERS 6000

/* Papers without vectors, in one part that was merged. `folder` may be NULL. */
static struct engine *merge_in(const char *folder)
{
	struct arena *arena = arena_new();
	struct random_source noise = {116};
	struct engine *engine = engine_new("model");
	struct engine_change *papers = arena_array(arena, FILE_PAPERS, sizeof(*papers));
	for (uint32_t i = 0; i < FILE_PAPERS; i++)
		papers[i].document = sample_document(arena, &noise, i, 2 * GENERATED_WORDS);
	engine_set_folder(engine, folder);
	apply_pages(engine, papers, FILE_PAPERS, FILE_PAPERS / 4);
	merge(engine);
	assert_int_equal(engine->view->part_count, 1);
	arena_free(arena);
	return engine;
}

static const struct segment *segment_of(const struct engine *engine)
{
	return engine->view->parts[0].part->segment;
}

static void assert_same_segment(const struct engine *one, const struct engine *other)
{
	const struct segment_header *header = segment_of(one)->header;
	assert_int_equal(segment_of(other)->header->length, header->length);
	assert_memory_equal(segment_of(other)->header, header, header->length);
}

/* The file has no name: the folder is empty. */
static void test_a_large_merge_is_in_a_file(void **state)
{
	char folder[] = "/tmp/engine_parts_test.XXXXXX";
	(void)state;
	assert_non_null(mkdtemp(folder));
	struct engine *in_memory = merge_in(NULL);
	struct engine *in_file = merge_in(folder);
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(segment_of(in_memory)->mapped, 0);
	assert_int_equal(segment_of(in_file)->mapped, segment_of(in_memory)->header->length);
	assert_same_segment(in_memory, in_file);
	assert_same_results(in_memory, in_file, GENERATED_WORDS);
	engine_free(in_file);
	engine_free(in_memory);
}

/* A limit of the size of files has the effect of a full disk. */
static void test_a_merge_without_room_for_a_file_is_in_memory(void **state)
{
	char folder[] = "/tmp/engine_parts_test.XXXXXX";
	struct rlimit before;
	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	struct rlimit limit = {.rlim_cur = 500000, .rlim_max = before.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	struct engine *full = merge_in(folder);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(rmdir(folder), 0);
	struct engine *absent = merge_in(folder);
	assert_int_equal(segment_of(full)->mapped, 0);
	assert_int_equal(segment_of(absent)->mapped, 0);
	assert_true(segment_of(full)->header->length > limit.rlim_cur);
	assert_same_segment(full, absent);
	engine_free(absent);
	engine_free(full);
}

/* An import does not rebuild what is there, and a merge never makes the number of parts grow. */
static void test_the_number_of_parts_stays_small(void **state)
{
	struct engine *engine = engine_new("model");
	struct arena *arena = arena_new();
	struct random_source noise = {113};
	struct engine_change changes[300];
	struct engine_merge *slow = NULL;
	size_t most = 0;
	(void)state;
	for (uint32_t at = 0; at < 60 * ARRAY_LEN(changes); at += ARRAY_LEN(changes)) {
		for (uint32_t i = 0; i < ARRAY_LEN(changes); i++)
			changes[i] = (struct engine_change){
				.document = sample_document(arena, &noise, at + i, 40)};
		engine_apply(engine, changes, ARRAY_LEN(changes), at + ARRAY_LEN(changes));
		struct engine_view *view = engine_view_get(engine);
		most = MAX_OF(most, engine_view_parts(view));
		engine_view_put(view);
		if (!slow && at < 3000)
			slow = engine_merge_new(engine, ENGINE_MERGE_DUE);
	}
	assert_non_null(slow);
	assert_true(most >= 10 && most <= 34);
	assert_true(engine_merge_run(slow));
	engine_merge_commit(engine, slow);
	struct engine_view *view = engine_view_get(engine);
	assert_int_equal(engine_view_count(view), 60 * ARRAY_LEN(changes));
	engine_view_put(view);
	arena_free(arena);
	engine_free(engine);
}

static void test_the_writer_frees_former_views(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct random_source noise = {7};
	struct engine *engine = engine_new(NULL);
	struct engine_change change = {.document =
	                                       sample_document(arena, &noise, 1, GENERATED_WORDS)};
	engine_apply(engine, &change, 1, 1);
	struct engine_view *view = engine_view_get(engine);
	change.document = sample_document(arena, &noise, 2, GENERATED_WORDS);
	engine_apply(engine, &change, 1, 2);
	assert_false(engine_is_collect_due(engine));
	engine_collect(engine);
	assert_int_equal(engine_view_count(view), 1);
	engine_view_put(view);
	assert_true(engine_is_collect_due(engine));
	engine_collect(engine);
	assert_false(engine_is_collect_due(engine));
	arena_free(arena);
	engine_free(engine);
}

static void test_a_view_outlives_its_engine(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct random_source noise = {7};
	struct engine *engine = engine_new(NULL);
	struct engine_change change = {.document =
	                                       sample_document(arena, &noise, 1, GENERATED_WORDS)};
	engine_apply(engine, &change, 1, 1);
	struct engine_view *view = engine_view_get(engine);
	merge(engine);
	engine_free(engine);
	assert_int_equal(engine_view_count(view), 1);
	engine_view_put(view);
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_ranking_does_not_depend_on_the_history),
		cmocka_unit_test(test_the_embedder_does_not_depend_on_the_history),
		cmocka_unit_test(test_a_changed_text_changes_the_fingerprint),
		cmocka_unit_test(test_parts_rank_as_one_part),
		cmocka_unit_test(test_merges_of_merges_keep_the_lists),
		cmocka_unit_test(test_a_large_merge_is_in_a_file),
		cmocka_unit_test(test_a_merge_without_room_for_a_file_is_in_memory),
		cmocka_unit_test(test_the_number_of_parts_stays_small),
		cmocka_unit_test(test_the_writer_frees_former_views),
		cmocka_unit_test(test_a_view_outlives_its_engine),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
