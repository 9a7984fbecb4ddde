#include "engine/snapshot.h"

#include "engine/segment_check.h"
#include "engine/text/mem.h"

#include <zlib.h>

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* "exsnap" and two bytes that tell the byte order. */
#define MAGIC UINT64_C(0x0102706165736E78)

#define ALIGNMENT 64

enum blob_kind { BLOB_SEGMENT, BLOB_EMBEDDER, BLOB_VECTORS, BLOB_IVF, BLOB_COUNT };

struct header {
	uint64_t magic;
	uint32_t version;
	uint32_t header_crc; /* CRC-32 of the header with this field set to 0 */
	uint64_t seq;
	uint64_t length; /* of the file, in bytes */
	struct {
		uint64_t offset;
		uint64_t length; /* 0: the base has no such blob */
	} blobs[BLOB_COUNT];
	uint32_t body_crc;       /* CRC-32 of everything after the header */
	uint32_t external_model; /* number of the external embedder; 0: built-in */
};

/* A blob to be written. */
struct blob {
	const void *data;
	size_t length;
};

static uint32_t crc_of(uint32_t crc, const void *data, size_t length)
{
	/* zlib starts a new checksum when `data` is NULL. */
	return length > 0 ? (uint32_t)crc32_z(crc, data, length) : crc;
}

static uint32_t header_crc(struct header header)
{
	header.header_crc = 0;
	return crc_of(0, &header, sizeof(header));
}

static uint64_t aligned(uint64_t offset)
{
	return (offset + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static void list_blobs(const struct base *base, struct blob *blobs)
{
	blobs[BLOB_SEGMENT] = (struct blob){base->segment->header, base->segment->header->length};
	if (base->embedder)
		blobs[BLOB_EMBEDDER] =
			(struct blob){base->embedder->header, base->embedder->header->length};
	if (base->vectors)
		blobs[BLOB_VECTORS] =
			(struct blob){base->vectors->header, base->vectors->header->length};
	if (base->ivf)
		blobs[BLOB_IVF] = (struct blob){base->ivf->header, base->ivf->header->length};
}

static const uint8_t padding[ALIGNMENT];

/* Compute the offsets of the blobs and the checksums. */
static struct header make_header(const struct base *base, const struct blob *blobs)
{
	struct header header = {.magic = MAGIC,
	                        .version = SNAPSHOT_VERSION,
	                        .seq = base->seq,
	                        .external_model = base->external_model};
	uint64_t offset = sizeof(header);
	for (size_t i = 0; i < BLOB_COUNT; i++) {
		uint64_t start = aligned(offset);
		header.body_crc = crc_of(header.body_crc, padding, start - offset);
		header.body_crc = crc_of(header.body_crc, blobs[i].data, blobs[i].length);
		header.blobs[i].offset = start;
		header.blobs[i].length = blobs[i].length;
		offset = start + blobs[i].length;
	}
	header.length = offset;
	header.header_crc = header_crc(header);
	return header;
}

static bool write_all(int file, const void *data, size_t length)
{
	const char *at = data;
	while (length > 0) {
		ssize_t written = write(file, at, MIN_OF(length, (size_t)1 << 30));
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		at += written;
		length -= (size_t)written;
	}
	return true;
}

static bool write_file(int file, const struct base *base)
{
	struct blob blobs[BLOB_COUNT] = {{NULL, 0}};
	list_blobs(base, blobs);
	struct header header = make_header(base, blobs);
	uint64_t offset = sizeof(header);
	if (!write_all(file, &header, sizeof(header)))
		return false;
	for (size_t i = 0; i < BLOB_COUNT; i++) {
		if (!write_all(file, padding, header.blobs[i].offset - offset) ||
		    !write_all(file, blobs[i].data, blobs[i].length))
			return false;
		offset = header.blobs[i].offset + blobs[i].length;
	}
	return fsync(file) == 0;
}

/* Make a rename durable: sync the folder of `path`. */
static bool sync_folder(const char *path)
{
	size_t size = strlen(path) + 1;
	mem_auto_free char *copy = mem_array(size, 1); /* dirname() changes its argument */
	memcpy(copy, path, size);
	int folder = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return false;
	bool is_synced = fsync(folder) == 0;
	close(folder);
	return is_synced;
}

bool snapshot_save(const struct base *base, const char *path)
{
	char temporary[PATH_MAX];
	int length = snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path);
	if (length < 0 || (size_t)length >= sizeof(temporary)) {
		errno = ENAMETOOLONG;
		return false;
	}
	int file = mkostemp(temporary, O_CLOEXEC);
	if (file < 0)
		return false;
	bool is_written = write_file(file, base);
	is_written = close(file) == 0 && is_written;
	if (is_written && rename(temporary, path) == 0)
		return sync_folder(path);
	int saved_errno = errno;
	unlink(temporary);
	errno = saved_errno;
	return false;
}

/* Whether the file is whole: lengths and checksums are right. */
static bool is_intact(const struct header *header, size_t length)
{
	uint64_t end = sizeof(*header);
	if (length < sizeof(*header) || header->magic != MAGIC ||
	    header->version != SNAPSHOT_VERSION || header->length != length ||
	    header->header_crc != header_crc(*header))
		return false;
	for (size_t i = 0; i < BLOB_COUNT; i++) {
		if (header->blobs[i].offset != aligned(end) || header->blobs[i].offset > length ||
		    header->blobs[i].length > length - header->blobs[i].offset)
			return false;
		end = header->blobs[i].offset + header->blobs[i].length;
	}
	return end == length && crc_of(0, header + 1, length - sizeof(*header)) == header->body_crc;
}

/* Whether the segment can be searched, and the other blobs have its document count and one dimension. */
static bool are_blobs_valid(const struct base *base)
{
	if (!base->segment || !segment_is_valid(base->segment))
		return false;
	if (!base->vectors)
		return !base->embedder && !base->ivf;
	if ((!base->embedder) != (base->external_model != 0))
		return false;
	if (base->ivf && (base->ivf->header->doc_count != base->segment->doc_count ||
	                  base->ivf->header->dimension != base->vectors->header->dimension))
		return false;
	return base->vectors->header->count == base->segment->doc_count &&
	       (!base->embedder ||
	        base->vectors->header->dimension == base->embedder->header->dimension);
}

struct base *snapshot_open(void *data, size_t length)
{
	const struct header *header = data;
	if (!is_intact(header, length))
		return NULL;
	struct base *base = base_new(NULL, NULL, NULL, NULL, header->seq);
	char *blobs[BLOB_COUNT];
	size_t lengths[BLOB_COUNT];
	for (size_t i = 0; i < BLOB_COUNT; i++) {
		blobs[i] = (char *)data + header->blobs[i].offset;
		lengths[i] = header->blobs[i].length;
	}
	base->external_model = header->external_model;
	base->segment = segment_open(blobs[BLOB_SEGMENT], lengths[BLOB_SEGMENT], false);
	if (lengths[BLOB_EMBEDDER] > 0)
		base->embedder = embedder_open(blobs[BLOB_EMBEDDER], lengths[BLOB_EMBEDDER], false);
	if (lengths[BLOB_VECTORS] > 0)
		base->vectors = vectors_open(blobs[BLOB_VECTORS], lengths[BLOB_VECTORS], false);
	if (lengths[BLOB_IVF] > 0)
		base->ivf = ivf_open(blobs[BLOB_IVF], lengths[BLOB_IVF], false);
	if (are_blobs_valid(base))
		return base;
	base_unref(base);
	return NULL;
}

static struct base *map_file(int file)
{
	struct stat status;
	if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0)
		return NULL;
	size_t length = (size_t)status.st_size;
	char *data = mmap(NULL, length, PROT_READ, MAP_PRIVATE, file, 0);
	if (data == MAP_FAILED)
		return NULL;
	struct base *base = snapshot_open(data, length);
	if (!base) {
		munmap(data, length);
		return NULL;
	}
	base->mapped = data;
	base->mapped_length = length;
	return base;
}

struct base *snapshot_load(const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return NULL;
	struct base *base = map_file(file);
	close(file);
	return base;
}
