#include "engine/snapshot.h"

#include "engine/segment_check.h"
#include "engine/text/file.h"
#include "engine/text/mem.h"

#include <zlib.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* "exsnap" and two bytes that show the byte order. */
#define MAGIC UINT64_C(0x0102706165736E78)

#define ALIGNMENT 64

/* More parts than a view ever has. */
#define MAX_PARTS 1024

enum blob_kind { BLOB_SEGMENT, BLOB_VECTORS, BLOB_IVF, BLOB_ALIVE, BLOBS_PER_PART };

struct header {
	uint64_t magic;
	uint32_t version;
	uint32_t header_crc; /* CRC-32 of the header with this field set to 0 */
	uint64_t complete;   /* struct progress */
	uint64_t newest;
	uint64_t length; /* of the file, in bytes */
	uint32_t part_count;
	uint32_t body_crc;       /* CRC-32 of everything after the header */
	uint32_t external_model; /* number of the external embedder; 0: built-in */
	uint32_t reserved;
};

/* Follows the header; one for the embedder, then BLOBS_PER_PART for each part. */
struct place {
	uint64_t offset;
	uint64_t length; /* 0: there is no such blob */
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

/* The number of an external embedder; 0: built-in. */
static uint32_t external_number(const char *external)
{
	uint32_t number = external ? crc_of(0, external, strlen(external)) : 0;
	return external && number == 0 ? 1 : number;
}

static size_t alive_bytes(uint32_t doc_count)
{
	return ((size_t)doc_count + 63) / 64 * sizeof(uint64_t);
}

static uint64_t aligned(uint64_t offset)
{
	return (offset + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static size_t blob_count(size_t part_count)
{
	return 1 + part_count * BLOBS_PER_PART;
}

static void list_part(const struct view_part *at, struct blob *blobs)
{
	const struct part *part = at->part;
	blobs[BLOB_SEGMENT] = (struct blob){part->segment->header, part->segment->header->length};
	if (part->vectors)
		blobs[BLOB_VECTORS] =
			(struct blob){part->vectors->header, part->vectors->header->length};
	if (part->ivf)
		blobs[BLOB_IVF] = (struct blob){part->ivf->header, part->ivf->header->length};
	if (at->deaths)
		blobs[BLOB_ALIVE] =
			(struct blob){at->deaths->alive, alive_bytes(part->segment->doc_count)};
}

/* The blobs of the file after the table of places. The caller frees them. */
static struct blob *list_blobs(const struct engine_view *view)
{
	const struct embedder *embedder = view->model->embedder;
	struct blob *blobs = mem_array(blob_count(view->part_count), sizeof(*blobs));
	if (embedder)
		blobs[0] = (struct blob){embedder->header, embedder->header->length};
	for (size_t i = 0; i < view->part_count; i++)
		list_part(&view->parts[i], blobs + blob_count(i));
	return blobs;
}

static const uint8_t padding[ALIGNMENT];

/* Compute the places of the blobs and the checksums. */
static struct header make_header(const struct engine_view *view, const struct blob *blobs,
                                 struct place *places)
{
	size_t count = blob_count(view->part_count);
	struct header header = {
		.magic = MAGIC,
		.version = SNAPSHOT_VERSION,
		.complete = view->progress.complete,
		.newest = view->progress.newest,
		.part_count = (uint32_t)view->part_count,
		.external_model = external_number(view->model->external),
	};
	uint64_t offset = sizeof(header) + count * sizeof(*places);
	for (size_t i = 0; i < count; i++) {
		places[i] = (struct place){aligned(offset), blobs[i].length};
		offset = places[i].offset + places[i].length;
	}
	header.length = offset;
	offset = sizeof(header) + count * sizeof(*places);
	header.body_crc = crc_of(0, places, count * sizeof(*places));
	for (size_t i = 0; i < count; i++) {
		header.body_crc = crc_of(header.body_crc, padding, places[i].offset - offset);
		header.body_crc = crc_of(header.body_crc, blobs[i].data, blobs[i].length);
		offset = places[i].offset + places[i].length;
	}
	header.header_crc = header_crc(header);
	return header;
}

static bool write_content(int file, const void *ctx)
{
	const struct engine_view *view = ctx;
	size_t count = blob_count(view->part_count);
	mem_auto_free struct blob *blobs = list_blobs(view);
	mem_auto_free struct place *places = mem_array(count, sizeof(*places));
	struct header header = make_header(view, blobs, places);
	uint64_t offset = sizeof(header) + count * sizeof(*places);
	if (!file_write(file, &header, sizeof(header)) ||
	    !file_write(file, places, count * sizeof(*places)))
		return false;
	for (size_t i = 0; i < count; i++) {
		if (!file_write(file, padding, places[i].offset - offset) ||
		    !file_write(file, blobs[i].data, blobs[i].length))
			return false;
		offset = places[i].offset + blobs[i].length;
	}
	return true;
}

bool snapshot_save(const struct engine_view *view, const char *path)
{
	return file_replace(path, write_content, view);
}

/* Whether the file is whole: lengths and checksums are right. */
static bool is_intact(const struct header *header, size_t length)
{
	if (length < sizeof(*header) || header->magic != MAGIC ||
	    header->version != SNAPSHOT_VERSION || header->length != length ||
	    header->part_count > MAX_PARTS || header->header_crc != header_crc(*header))
		return false;
	const struct place *places = (const struct place *)(header + 1);
	size_t count = blob_count(header->part_count);
	uint64_t end = sizeof(*header) + count * sizeof(*places);
	if (end > length || crc_of(0, header + 1, length - sizeof(*header)) != header->body_crc)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (places[i].offset != aligned(end) || places[i].offset > length ||
		    places[i].length > length - places[i].offset)
			return false;
		end = places[i].offset + places[i].length;
	}
	return end == length;
}

/* Whether the rows of the vectors are in the order of the lists. */
static bool is_order_valid(const struct ivf *ivf, const struct vectors *vectors)
{
	for (uint32_t row = 0; row < vectors->header->count; row++)
		if (vectors->rows_by_doc[ivf->docs[row]] != row)
			return false;
	return true;
}

/* Whether the inverted file fits the vectors, and has its own centroids if and only if the embedder
 * is external. */
static bool is_ivf_valid(const struct ivf *ivf, const struct vectors *vectors,
                         const struct model *model)
{
	return ivf->header->doc_count == vectors->header->count && is_order_valid(ivf, vectors) &&
	       ivf->header->dimension == vectors->header->dimension &&
	       (model->external ? ivf->own.count > 0
	                        : ivf->own.count == 0 && ivf->header->list_count ==
	                                                         model->embedder->centroids.count);
}

/* Whether the segment can be searched, and the other blobs have its document count and one
 * dimension. */
static bool is_part_valid(const struct part *part, const struct model *model)
{
	const struct vectors *vectors = part->vectors;
	if (!part->segment || !segment_is_valid(part->segment))
		return false;
	if (!vectors)
		return !model->embedder && !part->ivf;
	if ((!model->embedder) != (model->external != NULL))
		return false;
	if (!part->ivf != !vectors->rows_by_doc)
		return false;
	if (part->ivf && !is_ivf_valid(part->ivf, vectors, model))
		return false;
	return vectors->header->count == part->segment->doc_count &&
	       (!model->embedder ||
	        vectors->header->dimension == model->embedder->header->dimension);
}

/* View the blobs of a part. Returns NULL when they are refused. */
static struct part *open_part(char *data, const struct place *places, const struct model *model)
{
	struct part *part = part_new(NULL, NULL, NULL);
	const struct place *segment = &places[BLOB_SEGMENT];
	const struct place *vectors = &places[BLOB_VECTORS];
	const struct place *ivf = &places[BLOB_IVF];
	part->segment = segment_open(data + segment->offset, segment->length, false);
	if (vectors->length > 0)
		part->vectors = vectors_open(data + vectors->offset, vectors->length, false);
	if (ivf->length > 0)
		part->ivf = ivf_open(data + ivf->offset, ivf->length, false);
	bool is_whole = (part->vectors || vectors->length == 0) && (part->ivf || ivf->length == 0);
	if (is_whole && is_part_valid(part, model))
		return part;
	part_unref(part);
	return NULL;
}

/* The deaths in the bitmap; false: it has a wrong length. */
static bool open_deaths(const char *data, const struct place *alive, const struct segment *segment,
                        struct deaths **ret_deaths)
{
	const uint64_t *bits = (const uint64_t *)(data + alive->offset);
	mem_auto_free uint32_t *dead = mem_array(segment->doc_count, sizeof(*dead));
	size_t count = 0;
	*ret_deaths = NULL;
	if (alive->length == 0)
		return true;
	if (alive->length != alive_bytes(segment->doc_count))
		return false;
	for (uint32_t doc = 0; doc < segment->doc_count; doc++)
		if ((bits[doc / 64] >> (doc % 64) & 1) == 0)
			dead[count++] = doc;
	*ret_deaths = deaths_add(segment, NULL, dead, count);
	return true;
}

/* View the parts. Returns how many are valid; fewer than there are: the file is refused. */
static size_t open_parts(char *data, const struct model *model, struct view_part *parts)
{
	const struct header *header = (const struct header *)data;
	const struct place *places = (const struct place *)(header + 1);
	for (size_t i = 0; i < header->part_count; i++) {
		const struct place *of_part = places + blob_count(i);
		parts[i].part = open_part(data, of_part, model);
		if (!parts[i].part)
			return i;
		if (!open_deaths(data, &of_part[BLOB_ALIVE], parts[i].part->segment,
		                 &parts[i].deaths)) {
			part_unref(parts[i].part);
			return i;
		}
	}
	return header->part_count;
}

static struct model *open_model(char *data, const char *external)
{
	const struct header *header = (const struct header *)data;
	const struct place *place = (const struct place *)(header + 1);
	struct embedder *embedder = NULL;
	if (header->external_model != external_number(external) || (external && place->length > 0))
		return NULL;
	if (place->length > 0) {
		embedder = embedder_open(data + place->offset, place->length, false);
		if (!embedder)
			return NULL;
	}
	return model_new(external, embedder);
}

struct engine_view *snapshot_open(void *data, size_t length, const char *external)
{
	const struct header *header = data;
	struct model *model = is_intact(header, length) ? open_model(data, external) : NULL;
	if (!model)
		return NULL;
	struct view_part *parts = mem_array(header->part_count, sizeof(*parts));
	size_t count = open_parts(data, model, parts);
	struct progress progress = {header->complete, header->newest};
	struct engine_view *view = view_new(model, parts, count, progress);
	model_unref(model);
	if (count == header->part_count && progress.complete <= progress.newest)
		return view;
	view_unref(view);
	return NULL;
}

/* Everything that borrows from the file keeps it mapped. */
static void keep_mapped(struct engine_view *view, struct mapping *mapping)
{
	view->model->mapping = mapping_ref(mapping);
	for (size_t i = 0; i < view->part_count; i++)
		view->parts[i].part->mapping = mapping_ref(mapping);
}

static struct engine_view *map_file(int file, const char *external)
{
	struct stat status;
	if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0)
		return NULL;
	size_t length = (size_t)status.st_size;
	char *data = mmap(NULL, length, PROT_READ, MAP_PRIVATE, file, 0);
	if (data == MAP_FAILED)
		return NULL;
	struct mapping *mapping = mapping_new(data, length);
	struct engine_view *view = snapshot_open(data, length, external);
	if (view)
		keep_mapped(view, mapping);
	mapping_unref(mapping);
	return view;
}

struct engine_view *snapshot_load(const char *path, const char *external)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return NULL;
	struct engine_view *view = map_file(file, external);
	close(file);
	return view;
}
