/* The blob of the segment that is being built. It grows in memory; that of a merge, in a file that
 * has no name. What is in the file is not read before it is complete and mapped. */
#include "engine/lexical/builder_internal.h"
#include "engine/text/file.h"
#include "engine/text/mem.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* Bytes that are written to the file at a time. A smaller blob stays in memory. */
#define FLUSH_BYTES ((size_t)1 << 20)

size_t blob_length(const struct writer *writer)
{
	return writer->in_file + writer->blob.length;
}

/* The posting lists of new documents are made from the records in the blob. */
static bool may_have_file(const struct writer *writer)
{
	return writer->builder->folder && writer->builder->share_count == 0;
}

/* Returns -1 when no file can be made. */
static int open_nameless(const char *folder)
{
	char path[PATH_MAX];
	int length = snprintf(path, sizeof(path), "%s/merge.XXXXXX", folder);
	int file = length < (int)sizeof(path) ? mkostemp(path, O_CLOEXEC) : -1;
	if (file >= 0)
		unlink(path);
	return file;
}

static void write_to_file(struct writer *writer)
{
	struct bytes *blob = &writer->blob;
	if (writer->file < 0)
		writer->file = open_nameless(writer->builder->folder);
	writer->has_failed |=
		writer->file < 0 || !file_write(writer->file, blob->data, blob->length);
	/* The kernel can drop a page once it is on the disk: let it begin to write. */
	if (!writer->has_failed)
		sync_file_range(writer->file, (off_t)writer->in_file, (off_t)blob->length,
		                SYNC_FILE_RANGE_WRITE);
	writer->in_file += blob->length;
	blob->length = 0;
}

void blob_flush(struct writer *writer)
{
	if (writer->blob.length >= FLUSH_BYTES && may_have_file(writer))
		write_to_file(writer);
}

void blob_add(struct writer *writer, const void *data, size_t length)
{
	const char *at = data;
	while (length > 0) {
		size_t size = MIN_OF(length, FLUSH_BYTES);
		bytes_add(&writer->blob, at, size);
		blob_flush(writer);
		at += size;
		length -= size;
	}
}

/* The file began without the header. Some file systems report a full disk only to a sync. */
static struct segment *map_file(struct writer *writer)
{
	const struct segment_header *header = &writer->header;
	write_to_file(writer);
	if (writer->has_failed ||
	    pwrite(writer->file, header, sizeof(*header), 0) != (ssize_t)sizeof(*header) ||
	    fdatasync(writer->file) != 0)
		return NULL;
	void *data = mmap(NULL, header->length, PROT_READ, MAP_PRIVATE, writer->file, 0);
	return data != MAP_FAILED ? segment_open_mapped(data, header->length) : NULL;
}

struct segment *blob_open(struct writer *writer)
{
	if (writer->in_file > 0)
		return map_file(writer);
	memcpy(writer->blob.data, &writer->header, sizeof(writer->header));
	void *data = mem_resize(writer->blob.data, writer->blob.length, 1);
	struct segment *segment = segment_open(data, writer->blob.length, true);
	writer->blob = (struct bytes){0};
	require(segment);
	return segment;
}

void blob_done(struct writer *writer)
{
	bytes_done(&writer->blob);
	if (writer->file >= 0)
		close(writer->file);
}
