#include "indexing/embedder_store.h"

#include "base/arena.h"
#include "embedder.sql.h"
#include "engine/text/mem.h"
#include "pg/pg.h"

#include <stdio.h>
#include <string.h>

/* Bytes of a chunk; the last one has fewer. */
#define CHUNK_BYTES 262144

struct embedder_state embedder_store_state(struct request *rq)
{
	struct pg_rows *rows =
		pg_query(rq, EMBEDDER_STATE_SQL, pg_int(EMBEDDER_FORMAT), pg_int(TRAINING_RECIPE));
	struct embedder_state state = {
		.change = (uint64_t)pg_get_int(rows, 0, "change"),
		.papers = (uint32_t)pg_get_int(rows, 0, "papers"),
		.checked_papers = (uint32_t)pg_get_int(rows, 0, "checked_papers"),
		.checked_change = (uint64_t)pg_get_int(rows, 0, "checked_change"),
		.age_ms = (uint64_t)pg_get_int(rows, 0, "age_ms"),
		.recipe = (uint32_t)pg_get_int(rows, 0, "recipe"),
	};
	const char *version = pg_get(rows, 0, "version");
	if (!version)
		return state;
	size_t length;
	const void *fingerprint = pg_get_bytes(rq->arena, rows, 0, "fingerprint", &length);
	snprintf(state.version, sizeof(state.version), "%s", version);
	if (length == sizeof(state.fingerprint))
		memcpy(state.fingerprint, fingerprint, length);
	return state;
}

/* Read the chunks into `blob`, which has `length` bytes; false: they do not fill it. */
static bool read_chunks(struct request *rq, const char *version, char *blob, size_t length)
{
	size_t done = 0;
	for (int64_t number = 0; done < length; number++) {
		request_page_begin(rq);
		struct pg_rows *rows =
			pg_query(rq, EMBEDDER_CHUNK_SQL, pg_text(version), pg_int(number));
		size_t size = 0;
		const void *data =
			pg_empty(rows) ? NULL : pg_value_bytes(rq->arena, rows, 0, &size);
		bool is_read = data && size > 0 && size <= length - done;
		if (is_read)
			memcpy(blob + done, data, size);
		request_page_end(rq);
		if (!is_read)
			return false;
		done += size;
	}
	return true;
}

static void release_blob(struct request *rq, void *blob)
{
	(void)rq;
	free(blob);
}

struct embedder *embedder_store_load(struct request *rq, const char *version)
{
	struct pg_rows *rows = pg_query(rq, EMBEDDER_SIZE_SQL, pg_text(version));
	if (pg_empty(rows))
		return NULL;
	size_t length = (size_t)pg_value_int(rows, 0);
	char *blob = mem_array(length, 1);
	request_hold(rq, release_blob, blob);
	bool is_read = read_chunks(rq, version, blob, length);
	request_unhold(rq, release_blob);
	if (!is_read) {
		free(blob);
		return NULL;
	}
	struct embedder *embedder = embedder_open(blob, length, true);
	if (!embedder || strcmp(embedder->version, version) == 0)
		return embedder;
	embedder_free(embedder);
	return NULL;
}

static void store_chunks(struct request *rq, const struct embedder *embedder)
{
	const char *blob = (const char *)embedder->header;
	size_t length = embedder->header->length;
	for (size_t at = 0; at < length; at += CHUNK_BYTES) {
		request_page_begin(rq);
		pg_query(rq, EMBEDDER_STORE_CHUNK_SQL, pg_text(embedder->version),
		         pg_int((int64_t)(at / CHUNK_BYTES)),
		         pg_bytes(blob + at, MIN_OF((size_t)CHUNK_BYTES, length - at)));
		request_page_end(rq);
	}
}

bool embedder_store_save(struct request *rq, const struct embedder_row *row,
                         const struct lease *lease, const char *owner)
{
	const struct embedder *embedder = row->embedder;
	pg_begin(rq);
	struct pg_rows *rows =
		pg_query(rq, EMBEDDER_STORE_SQL, pg_text(embedder->version),
	                 pg_int(EMBEDDER_FORMAT), pg_int((int64_t)embedder->header->length),
	                 pg_bytes(row->fingerprint, sizeof(row->fingerprint)), pg_int(row->papers),
	                 pg_int((int64_t)row->change), pg_text(lease->name), pg_text(owner),
	                 pg_int(lease->fence), pg_int(TRAINING_RECIPE));
	if (pg_empty(rows)) {
		pg_rollback(rq);
		return false;
	}
	store_chunks(rq, embedder);
	pg_query(rq, EMBEDDER_REMOVE_OLD_SQL, pg_int(EMBEDDER_FORMAT), pg_int(TRAINING_RECIPE));
	pg_commit(rq);
	return true;
}

void embedder_store_confirm(struct request *rq, const char *version, uint32_t papers,
                            uint64_t change)
{
	pg_query(rq, EMBEDDER_CONFIRM_SQL, pg_text(version), pg_int(papers),
	         pg_int((int64_t)change));
}
