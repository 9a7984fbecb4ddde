#include "engine/snapshot.h"

#include "corpus.h"
#include "engine/vector/lsa.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* Size of the header. */
#define HEADER_BYTES 104

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

static struct base *make_base(uint32_t count)
{
	struct segment *segment = sample_segment(81, count, 200);
	struct embedder *embedder = lsa_train(segment, NULL);
	struct vectors *vectors = embedder ? vectors_make(embedder, segment, NULL) : NULL;
	return base_new(segment, embedder, vectors, vectors ? ivf_make(vectors, 1, NULL) : NULL,
	                4711);
}

static int setup(void **state)
{
	static struct fixture fixture = {.folder = "/tmp/snapshot_test.XXXXXX"};
	struct base *base = make_base(200);
	assert_non_null(mkdtemp(fixture.folder));
	snprintf(fixture.path, sizeof(fixture.path), "%s/index", fixture.folder);
	assert_true(snapshot_save(base, fixture.path));
	base_unref(base);
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

static void test_a_saved_base_is_loaded(void **state)
{
	struct fixture *fixture = *state;
	struct base *made = make_base(200);
	struct base *loaded = snapshot_load(fixture->path);
	assert_non_null(loaded);
	assert_int_equal(loaded->seq, 4711);
	assert_memory_equal(loaded->segment->header, made->segment->header,
	                    made->segment->header->length);
	assert_memory_equal(loaded->embedder->header, made->embedder->header,
	                    made->embedder->header->length);
	assert_memory_equal(loaded->vectors->header, made->vectors->header,
	                    made->vectors->header->length);
	assert_memory_equal(loaded->ivf->header, made->ivf->header, made->ivf->header->length);
	base_unref(loaded);
	base_unref(made);
}

static void test_a_base_without_an_embedder_is_loaded(void **state)
{
	struct fixture *fixture = *state;
	struct base *made = make_base(3);
	assert_true(snapshot_save(made, fixture->path));
	struct base *loaded = snapshot_load(fixture->path);
	assert_non_null(loaded);
	assert_null(loaded->embedder);
	assert_null(loaded->vectors);
	assert_int_equal(loaded->segment->doc_count, 3);
	base_unref(loaded);
	base_unref(made);
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
			assert_null(snapshot_load(fixture->path));
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
		assert_null(snapshot_load(fixture->path));
	}
	write_file(fixture->path, data, fixture->length - 1);
	assert_null(snapshot_load(fixture->path));
	write_file(fixture->path, data, fixture->length + 8);
	assert_null(snapshot_load(fixture->path));
	memset(data, 0, fixture->length);
	write_file(fixture->path, data, fixture->length);
	assert_null(snapshot_load(fixture->path));
	free(data);
}

static void test_a_missing_file_is_refused(void **state)
{
	struct fixture *fixture = *state;
	unlink(fixture->path);
	assert_null(snapshot_load(fixture->path));
	assert_null(snapshot_load(fixture->folder));
}

static void test_a_failed_save_keeps_the_old_file(void **state)
{
	struct fixture *fixture = *state;
	struct base *base = make_base(5);
	char missing[160];
	snprintf(missing, sizeof(missing), "%s/absent/index", fixture->folder);
	assert_false(snapshot_save(base, missing));
	/* A file cannot be renamed to the path of a folder. */
	write_file(fixture->path, fixture->data, fixture->length);
	assert_false(snapshot_save(base, fixture->folder));
	base_unref(base);
	base = snapshot_load(fixture->path);
	assert_non_null(base);
	assert_int_equal(base->segment->doc_count, 200);
	base_unref(base);
}

/* Damaged headers of blobs are handled without the checksums of the file. */
static void test_damaged_blob_headers_are_handled(void **state)
{
	struct base *base = make_base(200);
	struct segment_header *header;
	size_t length = base->segment->header->length;
	(void)state;
	for (size_t at = 0; at < sizeof(*header); at++) {
		header = malloc(length);
		memcpy(header, base->segment->header, length);
		((char *)header)[at] ^= 0x40;
		struct segment *opened = segment_open(header, length, true);
		segment_free(opened);
	}
	for (size_t at = 0; at < sizeof(*base->embedder->header); at++) {
		char *copy = malloc(base->embedder->header->length);
		memcpy(copy, base->embedder->header, base->embedder->header->length);
		copy[at] ^= 0x40;
		embedder_free(embedder_open(copy, base->embedder->header->length, true));
	}
	for (size_t at = 0; at < sizeof(*base->vectors->header); at++) {
		char *copy = malloc(base->vectors->header->length);
		memcpy(copy, base->vectors->header, base->vectors->header->length);
		copy[at] ^= 0x40;
		vectors_free(vectors_open(copy, base->vectors->header->length, true));
	}
	for (size_t at = 0; at < sizeof(*base->ivf->header); at++) {
		char *copy = malloc(base->ivf->header->length);
		memcpy(copy, base->ivf->header, base->ivf->header->length);
		copy[at] ^= 0x40;
		ivf_free(ivf_open(copy, base->ivf->header->length, true));
	}
	assert_null(ivf_open(malloc(8), 0, true));
	assert_null(segment_open(malloc(8), 0, true));
	assert_null(embedder_open(malloc(8), 0, true));
	assert_null(vectors_open(malloc(8), 0, true));
	base_unref(base);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_saved_base_is_loaded),
		cmocka_unit_test(test_a_base_without_an_embedder_is_loaded),
		cmocka_unit_test(test_a_damaged_file_is_refused),
		cmocka_unit_test(test_a_file_of_another_length_is_refused),
		cmocka_unit_test(test_a_missing_file_is_refused),
		cmocka_unit_test(test_a_failed_save_keeps_the_old_file),
		cmocka_unit_test(test_damaged_blob_headers_are_handled),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
