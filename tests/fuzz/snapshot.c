/* snapshot_open(): any bytes are refused, or are an index that can be searched and merged. The
 * checksums are corrected, because almost every input would be refused otherwise. */
#include "engine/snapshot.h"

#include "crypto/crypto.h"
#include "engine/engine.h"
#include "engine/internal.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

/* Fields of the header by offset, see snapshot.c. */
enum {
	AT_VERSION = 8,
	AT_HEADER_CRC = 12,
	AT_LENGTH = 32,
	AT_BODY_CRC = 44,
	AT_EXTERNAL = 48,
	HEADER_BYTES = 56,
	ALIGNMENT = 64,
};

/* Name of the external embedder of those inputs that have one. */
#define EXTERNAL "external"

/* Number of terms and documents of the index that are used in queries. */
#define SAMPLE 4

/* Returns the name of the external embedder. */
static const char *correct_header(uint8_t *data, size_t size)
{
	uint32_t external;
	uint32_t version = SNAPSHOT_VERSION;
	uint64_t length = size;
	uint32_t body_crc =
		size > HEADER_BYTES ? crc32_of(data + HEADER_BYTES, size - HEADER_BYTES) : 0;
	memcpy(data + AT_VERSION, &version, sizeof(version));
	memcpy(data + AT_LENGTH, &length, sizeof(length));
	memcpy(data + AT_BODY_CRC, &body_crc, sizeof(body_crc));
	memcpy(&external, data + AT_EXTERNAL, sizeof(external));
	if (external != 0) {
		external = crc32_of(EXTERNAL, strlen(EXTERNAL));
		memcpy(data + AT_EXTERNAL, &external, sizeof(external));
	}
	memset(data + AT_HEADER_CRC, 0, sizeof(uint32_t));
	uint32_t header_crc = crc32_of(data, HEADER_BYTES);
	memcpy(data + AT_HEADER_CRC, &header_crc, sizeof(header_crc));
	return external != 0 ? EXTERNAL : NULL;
}

static void check_result(const struct engine_result *result, const struct engine_query *query)
{
	require(result->count <= query->limit);
	for (size_t i = 0; i < result->count; i++) {
		require(strlen(result->hits[i].id) <= DOCUMENT_MAX_ID);
		require(result->hits[i].matched_count <= ENGINE_MAX_MATCHED);
	}
}

/* A vector for the query when the embedder is external; NULL when the index has no vectors. */
static const float *make_vector(struct arena *arena, uint32_t dimension)
{
	float *vector = arena_array(arena, dimension, sizeof(float));
	for (uint32_t i = 0; i < dimension; i++)
		vector[i] = (float)(i % 7) - 2;
	return dimension > 0 && embedder_normalise(vector, dimension) ? vector : NULL;
}

static void search(const struct engine_view *view, const char *text)
{
	static const char *const categories[] = {"cs"};
	struct arena *arena = arena_new();
	struct engine_query query = {.text = text,
	                             .length = strlen(text),
	                             .limit = 20,
	                             .dimension = engine_dimension(view)};
	query.vector = make_vector(arena, query.dimension);
	struct engine_result result = engine_search(view, &query, arena);
	check_result(&result, &query);
	query.filter = (struct filter){.categories = categories,
	                               .category_count = 1,
	                               .container = CONTAINER_WITHOUT,
	                               .has_published_since = true};
	result = engine_search(view, &query, arena);
	check_result(&result, &query);
	arena_free(arena);
}

/* Search by terms of the index, one of them misspelled, and look up documents. */
static void use(const struct engine_view *view)
{
	if (view->part_count == 0)
		return;
	const struct segment *segment = view->parts[0].part->segment;
	struct arena *arena = arena_new();
	struct buf text = {.arena = arena};
	buf_puts(&text, "neural network");
	for (uint32_t i = 0; i < MIN_OF(segment->term_count, (uint32_t)SAMPLE); i++)
		buf_printf(&text, " %s %sx", segment_term_text(segment, i),
		           segment_term_text(segment, segment->term_count - 1 - i));
	search(view, text.data);
	float *vector = arena_array(arena, engine_dimension(view), sizeof(float));
	for (uint32_t i = 0; i < MIN_OF(segment->doc_count, (uint32_t)SAMPLE); i++) {
		const char *id = segment_doc_id(segment, i);
		uint64_t seq;
		engine_find(view, id, &seq);
		engine_vector(view, id, vector);
		search(view, id);
	}
	engine_version(view);
	arena_free(arena);
}

static void use_snapshot(struct engine_view *restored)
{
	struct engine *engine = engine_new(NULL);
	engine_publish(engine, restored);
	for (int round = 0; round < 2; round++) {
		struct engine_view *view = engine_view_get(engine);
		use(view);
		engine_view_put(view);
		struct engine_merge *merge =
			round == 0 ? engine_merge_new(engine, ENGINE_MERGE_ALL) : NULL;
		if (!merge)
			break;
		require(engine_merge_run(merge));
		engine_merge_commit(engine, merge);
	}
	engine_free(engine);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A block of exactly this size, so that a sanitizer detects a read past the end. */
	uint8_t *copy;
	require(posix_memalign((void **)&copy, ALIGNMENT, size > 0 ? size : 1) == 0);
	if (size > 0)
		memcpy(copy, data, size);
	view_unref(snapshot_open(copy, size, NULL));
	const char *external = size >= HEADER_BYTES ? correct_header(copy, size) : NULL;
	struct engine_view *view = snapshot_open(copy, size, external);
	if (view)
		use_snapshot(view);
	free(copy);
	return 0;
}
