#include "engine/snapshot.h"

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

/* "exsnap" and two bytes that show the byte order. */
#define MAGIC UINT64_C(0x0102706165736E78)

#define ALIGNMENT 64

enum blob { BLOB_SEGMENT, BLOB_EMBEDDER, BLOB_VECTORS, BLOB_IVF, BLOB_COUNT };

struct header {
	uint64_t magic;
	uint32_t version;
	uint32_t header_crc; /* of the header with this set to 0 */
	uint64_t seq;
	uint64_t length; /* of the file, in bytes */
	struct {
		uint64_t offset;
		uint64_t length; /* 0: there is no such blob */
	} blobs[BLOB_COUNT];
	uint32_t body_crc; /* of everything behind the header */
	uint32_t outside;  /* number of the outside embedder; 0: built in */
};

/* A blob that is to be written. */
struct piece {
	const void *data;
	size_t length;
};

static uint32_t crc_of(uint32_t crc, const void *data, size_t length)
{
	/* For zlib no data means a new sum. */
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

static void collect_pieces(const struct base *base, struct piece *pieces)
{
	pieces[BLOB_SEGMENT] = (struct piece){base->segment->header, base->segment->header->length};
	if (base->embedder != NULL)
		pieces[BLOB_EMBEDDER] =
			(struct piece){base->embedder->header, base->embedder->header->length};
	if (base->vectors != NULL)
		pieces[BLOB_VECTORS] =
			(struct piece){base->vectors->header, base->vectors->header->length};
	if (base->ivf != NULL)
		pieces[BLOB_IVF] = (struct piece){base->ivf->header, base->ivf->header->length};
}

static const uint8_t padding[ALIGNMENT];

/* Lay the pieces out and sum them up. */
static struct header make_header(const struct base *base, const struct piece *pieces)
{
	struct header header = {.magic = MAGIC,
	                        .version = SNAPSHOT_VERSION,
	                        .seq = base->seq,
	                        .outside = base->outside};
	uint64_t offset = sizeof(header);

	for (size_t i = 0; i < BLOB_COUNT; i++) {
		uint64_t start = aligned(offset);

		header.body_crc = crc_of(header.body_crc, padding, start - offset);
		header.body_crc = crc_of(header.body_crc, pieces[i].data, pieces[i].length);
		header.blobs[i].offset = start;
		header.blobs[i].length = pieces[i].length;
		offset = start + pieces[i].length;
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
	struct piece pieces[BLOB_COUNT] = {{NULL, 0}};
	struct header header;
	uint64_t offset = sizeof(header);

	collect_pieces(base, pieces);
	header = make_header(base, pieces);
	if (!write_all(file, &header, sizeof(header)))
		return false;
	for (size_t i = 0; i < BLOB_COUNT; i++) {
		if (!write_all(file, padding, header.blobs[i].offset - offset) ||
		    !write_all(file, pieces[i].data, pieces[i].length))
			return false;
		offset = header.blobs[i].offset + pieces[i].length;
	}
	return fsync(file) == 0;
}

/* Make a rename last: sync the folder that holds `path`. */
static bool sync_folder(const char *path)
{
	char copy[PATH_MAX];
	bool is_synced;
	int folder;

	snprintf(copy, sizeof(copy), "%s", path);
	folder = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return false;
	is_synced = fsync(folder) == 0;
	close(folder);
	return is_synced;
}

bool snapshot_save(const struct base *base, const char *path)
{
	char temporary[PATH_MAX];
	int length = snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path);
	bool is_written;
	int kept;
	int file;

	if (length < 0 || (size_t)length >= sizeof(temporary)) {
		errno = ENAMETOOLONG;
		return false;
	}
	file = mkostemp(temporary, O_CLOEXEC);
	if (file < 0)
		return false;
	is_written = write_file(file, base);
	is_written = close(file) == 0 && is_written;
	if (is_written && rename(temporary, path) == 0)
		return sync_folder(path);
	kept = errno;
	unlink(temporary);
	errno = kept;
	return false;
}

static bool is_sound(const struct header *header, size_t length)
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

/* The parts of a base have to fit each other. */
static bool fit_together(const struct base *base)
{
	if (base->segment == NULL)
		return false;
	if (base->vectors == NULL)
		return base->embedder == NULL && base->ivf == NULL;
	if ((base->embedder == NULL) != (base->outside != 0))
		return false;
	if (base->ivf != NULL && (base->ivf->header->doc_count != base->segment->doc_count ||
	                          base->ivf->header->dimension != base->vectors->header->dimension))
		return false;
	return base->vectors->header->count == base->segment->doc_count &&
	       (base->embedder == NULL ||
	        base->vectors->header->dimension == base->embedder->header->dimension);
}

/* A base that borrows from the mapping; takes the mapping. */
static struct base *view_mapping(char *data, size_t length)
{
	const struct header *header = (const struct header *)data;
	struct base *base = base_new(NULL, NULL, NULL, NULL, header->seq);
	char *blobs[BLOB_COUNT];
	size_t lengths[BLOB_COUNT];

	for (size_t i = 0; i < BLOB_COUNT; i++) {
		blobs[i] = data + header->blobs[i].offset;
		lengths[i] = header->blobs[i].length;
	}
	base->mapped = data;
	base->mapped_length = length;
	base->outside = header->outside;
	base->segment = segment_open(blobs[BLOB_SEGMENT], lengths[BLOB_SEGMENT], false);
	if (lengths[BLOB_EMBEDDER] > 0)
		base->embedder = embedder_open(blobs[BLOB_EMBEDDER], lengths[BLOB_EMBEDDER], false);
	if (lengths[BLOB_VECTORS] > 0)
		base->vectors = vectors_open(blobs[BLOB_VECTORS], lengths[BLOB_VECTORS], false);
	if (lengths[BLOB_IVF] > 0)
		base->ivf = ivf_open(blobs[BLOB_IVF], lengths[BLOB_IVF], false);
	if (fit_together(base))
		return base;
	base_unref(base);
	return NULL;
}

static struct base *map_file(int file)
{
	struct stat status;
	size_t length;
	char *data;

	if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) ||
	    (uint64_t)status.st_size < sizeof(struct header))
		return NULL;
	length = (size_t)status.st_size;
	data = mmap(NULL, length, PROT_READ, MAP_PRIVATE, file, 0);
	if (data == MAP_FAILED)
		return NULL;
	if (is_sound((const struct header *)data, length))
		return view_mapping(data, length);
	munmap(data, length);
	return NULL;
}

struct base *snapshot_load(const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	struct base *base;

	if (file < 0)
		return NULL;
	base = map_file(file);
	close(file);
	return base;
}
