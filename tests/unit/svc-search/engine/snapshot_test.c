#include "engine/snapshot.h"

#include "corpus.h"
#include "trained.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* Size of the header. */
#define HEADER_BYTES 56

struct fixture {
	char folder[64];
	char path[96];
	char *data; /* content of the file */
	size_t length;
};

static void read_file(const char *path, char **ret_data, size_t *ret_length)
{
	FILE *file = fopen(path, "rb");
	assert_non_null(file);
	struct stat status;
	assert_int_equal(fstat(fileno(file), &status), 0);
	*ret_length = (size_t)status.st_size;
	*ret_data = malloc(*ret_length);
	assert_int_equal(fread(*ret_data, 1, *ret_length, file), *ret_length);
	fclose(file);
}

static void write_file(const char *path, const char *data, size_t length)
{
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, length, file), length);
	assert_int_equal(fclose(file), 0);
}

/* An embedder with centroids; NULL when `segment` is too small. */
static struct embedder *make_embedder(const struct segment *segment)
{
	struct embedder *embedder = train_on_segment(segment);
	if (!embedder)
		return NULL;
	struct vectors *vectors = vectors_make(embedder, segment, NULL, NULL);
	struct centroids *centroids = centroids_learn(vectors, 15, NULL);
	embedder = embedder_with_centroids(embedder, centroids);
	centroids_free(centroids);
	vectors_free(vectors);
	return embedder;
}

static struct part *make_part(const struct embedder *embedder, struct segment *segment)
{
	struct vectors *vectors = embedder ? vectors_make(embedder, segment, NULL, NULL) : NULL;
	return part_new(segment, vectors,
	                vectors ? ivf_make(vectors, &embedder->centroids, NULL, NULL) : NULL);
}

/* A view of two parts, of which the first, with `count` papers, has two dead ones. */
static struct engine_view *make_view(uint32_t count)
{
	struct segment *segment = sample_segment(81, count, 200);
	struct embedder *embedder = make_embedder(segment);
	struct model *model = model_new(NULL, embedder);
	const uint32_t dead[] = {0, count - 1};
	struct view_part *parts = calloc(2, sizeof(*parts));
	parts[0].part = make_part(embedder, segment);
	parts[0].deaths = deaths_add(segment, NULL, dead, ARRAY_LEN(dead));
	parts[1].part = make_part(embedder, sample_segment(82, count / 3, 200));
	struct engine_view *view = view_new(model, parts, 2, (struct progress){4711, 4800});
	model_unref(model);
	return view;
}

static int setup(void **state)
{
	static struct fixture fixture = {.folder = "/tmp/snapshot_test.XXXXXX"};
	struct engine_view *view = make_view(200);
	assert_non_null(mkdtemp(fixture.folder));
	snprintf(fixture.path, sizeof(fixture.path), "%s/index", fixture.folder);
	assert_true(snapshot_save(view, fixture.path));
	view_unref(view);
	read_file(fixture.path, &fixture.data, &fixture.length);
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;
	unlink(fixture->path);
	/* Fails when a temporary file is left. */
	assert_int_equal(rmdir(fixture->folder), 0);
	free(fixture->data);
	return 0;
}

static void assert_same_part(const struct view_part *one, const struct view_part *other)
{
	const struct part *left = one->part;
	const struct part *right = other->part;
	assert_memory_equal(left->segment->header, right->segment->header,
	                    right->segment->header->length);
	assert_memory_equal(left->vectors->header, right->vectors->header,
	                    right->vectors->header->length);
	assert_memory_equal(left->ivf->header, right->ivf->header, right->ivf->header->length);
	assert_int_equal(view_part_count(one), view_part_count(other));
	for (uint32_t term = 0; term < left->segment->term_count; term++)
		assert_int_equal(view_part_df(one, term), view_part_df(other, term));
}

static void test_a_saved_view_is_loaded(void **state)
{
	struct fixture *fixture = *state;
	struct engine_view *made = make_view(200);
	struct engine_view *loaded = snapshot_load(fixture->path, NULL);
	assert_non_null(loaded);
	assert_int_equal(loaded->progress.complete, 4711);
	assert_int_equal(loaded->progress.newest, 4800);
	assert_int_equal(loaded->part_count, 2);
	assert_int_equal(loaded->doc_count, 200 - 2 + 66);
	assert_true(loaded->norms.average_length == made->norms.average_length);
	for (size_t i = 0; i < 2; i++)
		assert_same_part(&loaded->parts[i], &made->parts[i]);
	assert_memory_equal(loaded->model->embedder->header, made->model->embedder->header,
	                    made->model->embedder->header->length);
	assert_string_equal(engine_version(loaded), engine_version(made));
	assert_null(snapshot_load(fixture->path, "external"));
	view_unref(loaded);
	view_unref(made);
}

static void test_a_view_without_an_embedder_is_loaded(void **state)
{
	struct fixture *fixture = *state;
	struct engine_view *made = make_view(3);
	assert_true(snapshot_save(made, fixture->path));
	struct engine_view *loaded = snapshot_load(fixture->path, NULL);
	assert_non_null(loaded);
	assert_null(loaded->model->embedder);
	assert_int_equal(loaded->dimension, 0);
	assert_int_equal(loaded->doc_count, 2);
	view_unref(loaded);
	view_unref(made);
}

static void test_a_damaged_file_is_refused(void **state)
{
	struct fixture *fixture = *state;
	char *data = malloc(fixture->length);
	memcpy(data, fixture->data, fixture->length);
	for (size_t at = 0; at < fixture->length; at += at < HEADER_BYTES ? 1 : 997) {
		for (unsigned bit = 0; bit < 8; bit += 7) {
			data[at] ^= (char)(1u << bit);
			write_file(fixture->path, data, fixture->length);
			assert_null(snapshot_load(fixture->path, NULL));
			data[at] ^= (char)(1u << bit);
		}
	}
	free(data);
}

static void test_a_file_of_another_length_is_refused(void **state)
{
	struct fixture *fixture = *state;
	char *data = calloc(1, fixture->length + 8);
	memcpy(data, fixture->data, fixture->length);
	for (size_t length = 0; length < fixture->length; length += length < 130 ? 1 : 1009) {
		write_file(fixture->path, data, length);
		assert_null(snapshot_load(fixture->path, NULL));
	}
	write_file(fixture->path, data, fixture->length - 1);
	assert_null(snapshot_load(fixture->path, NULL));
	write_file(fixture->path, data, fixture->length + 8);
	assert_null(snapshot_load(fixture->path, NULL));
	memset(data, 0, fixture->length);
	write_file(fixture->path, data, fixture->length);
	assert_null(snapshot_load(fixture->path, NULL));
	free(data);
}

static void test_a_missing_file_is_refused(void **state)
{
	struct fixture *fixture = *state;
	unlink(fixture->path);
	assert_null(snapshot_load(fixture->path, NULL));
	assert_null(snapshot_load(fixture->folder, NULL));
}

static void test_a_failed_save_keeps_the_old_file(void **state)
{
	struct fixture *fixture = *state;
	struct engine_view *view = make_view(5);
	char missing[160];
	snprintf(missing, sizeof(missing), "%s/absent/index", fixture->folder);
	assert_false(snapshot_save(view, missing));
	/* A file cannot be renamed to the path of a folder. */
	write_file(fixture->path, fixture->data, fixture->length);
	assert_false(snapshot_save(view, fixture->folder));
	view_unref(view);
	view = snapshot_load(fixture->path, NULL);
	assert_non_null(view);
	assert_int_equal(view->doc_count, 264);
	view_unref(view);
}

/* Damaged headers of blobs are handled without the checksums of the file. */
static void test_damaged_blob_headers_are_handled(void **state)
{
	struct engine_view *view = make_view(200);
	const struct part *part = view->parts[0].part;
	const struct embedder *embedder = view->model->embedder;
	struct segment_header *header;
	size_t length = part->segment->header->length;
	(void)state;
	for (size_t at = 0; at < sizeof(*header); at++) {
		header = malloc(length);
		memcpy(header, part->segment->header, length);
		((char *)header)[at] ^= 0x40;
		struct segment *opened = segment_open(header, length, true);
		segment_free(opened);
	}
	for (size_t at = 0; at < sizeof(*embedder->header); at++) {
		char *copy = malloc(embedder->header->length);
		memcpy(copy, embedder->header, embedder->header->length);
		copy[at] ^= 0x40;
		embedder_free(embedder_open(copy, embedder->header->length, true));
	}
	for (size_t at = 0; at < sizeof(*part->vectors->header); at++) {
		char *copy = malloc(part->vectors->header->length);
		memcpy(copy, part->vectors->header, part->vectors->header->length);
		copy[at] ^= 0x40;
		vectors_free(vectors_open(copy, part->vectors->header->length, true));
	}
	for (size_t at = 0; at < sizeof(*part->ivf->header); at++) {
		char *copy = malloc(part->ivf->header->length);
		memcpy(copy, part->ivf->header, part->ivf->header->length);
		copy[at] ^= 0x40;
		ivf_free(ivf_open(copy, part->ivf->header->length, true));
	}
	assert_null(ivf_open(malloc(8), 0, true));
	assert_null(segment_open(malloc(8), 0, true));
	assert_null(embedder_open(malloc(8), 0, true));
	assert_null(vectors_open(malloc(8), 0, true));
	view_unref(view);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_saved_view_is_loaded),
		cmocka_unit_test(test_a_view_without_an_embedder_is_loaded),
		cmocka_unit_test(test_a_damaged_file_is_refused),
		cmocka_unit_test(test_a_file_of_another_length_is_refused),
		cmocka_unit_test(test_a_missing_file_is_refused),
		cmocka_unit_test(test_a_failed_save_keeps_the_old_file),
		cmocka_unit_test(test_damaged_blob_headers_are_handled),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
