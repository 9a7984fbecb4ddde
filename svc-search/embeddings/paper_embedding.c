#include "embeddings/paper_embedding.h"

#include "crypto/crypto.h"
#include "embeddings/embeddings.h"
#include "engine/vector/vectors.h"
#include "json/json.h"
#include "loop/periodic.h"
#include "loop/wait.h"
#include "observe/log.h"
#include "observe/metrics.h"
#include "pacing/backoff.h"
#include "pg/pg.h"
#include "service/process.h"
#include "vector.sql.h"

#include <stdlib.h>

#define POLL_MS 1000

/* Duration of the lease beyond the timeout of a call: time for the statements of a pass. */
#define LEASE_SPARE_MS 5000

/* A pass makes at most two calls (accepts_others()). A call gets at most half of the time left, so
 * twice the time of two calls gives both their full timeout. */
#define PASS_TIMEOUT_FACTOR 4

#define RETRY_MIN_MS 500
#define RETRY_MAX_MS 60000

/* Failures in a row after which one of the papers may be their cause. */
#define FAILURES_SUSPECT 5

/* A text that any embedder accepts. */
static const char *const PROBE_TEXT = "paper";

struct paper_embedding {
	struct periodic *periodic;
	size_t batch;      /* papers of the next pass */
	unsigned failures; /* of the endpoint, consecutive */
	bool is_suspected; /* the last pass failed for a single paper only */
};

/* The papers of one pass. */
struct batch {
	const struct pg_rows *rows; /* of VECTOR_PENDING_SQL */
	uint32_t dimension;         /* of the space; 0: it has no vectors yet */
	size_t count;               /* papers that need a vector */
	int *needed;                /* their rows */
	const char **texts;         /* their texts */
};

METRIC_COUNTER(embedded_counter, "expops_embedded_papers_total",
               "Papers embedded by this replica.");

/* --- Postgres --------------------------------------------------------------------------------- */

/* Acquire the lease. False: no paper is pending, or another process holds the lease. */
static bool acquire_lease(struct request *rq, uint64_t *ret_done, uint32_t *ret_dimension)
{
	uint64_t lease_ms = embeddings_timeout_ms(FOR_PAPERS) + LEASE_SPARE_MS;
	struct pg_rows *rows = pg_query(rq, VECTOR_HAS_PENDING_SQL, pg_text(embeddings_space()));
	if (!pg_value_bool(rows, 0))
		return false;
	rows = pg_query(rq, VECTOR_ACQUIRE_LEASE_SQL, pg_text(embeddings_space()),
	                pg_text(rq->worker->process->instance),
	                pg_int((int64_t)(lease_ms + 999) / 1000));
	if (pg_empty(rows))
		return false;
	*ret_done = (uint64_t)pg_get_int(rows, 0, "done");
	*ret_dimension = (uint32_t)pg_get_int(rows, 0, "dimension");
	return true;
}

static void read_batch(struct request *rq, uint64_t done, size_t limit, struct batch *batch)
{
	batch->rows = pg_query(rq, VECTOR_PENDING_SQL, pg_text(embeddings_space()),
	                       pg_int((int64_t)done), pg_int((int64_t)limit));
	batch->needed = arena_array(rq->arena, (size_t)batch->rows->count, sizeof(int));
	batch->texts = arena_array(rq->arena, (size_t)batch->rows->count, sizeof(char *));
	for (int row = 0; row < batch->rows->count; row++) {
		if (!pg_get_bool(batch->rows, row, "is_needed"))
			continue;
		batch->needed[batch->count] = row;
		batch->texts[batch->count++] =
			arena_printf(rq->arena, "%s\n%s", pg_get(batch->rows, row, "title"),
		                     pg_get(batch->rows, row, "abstract"));
	}
}

/* Arguments and result of pack(), which runs on the thread pool. */
struct packing {
	struct arena *arena;
	const struct batch *batch;
	const struct embeddings *result;
	const char *json; /* the vectors, as VECTOR_STORE_SQL takes them */
};

static void pack(void *arg)
{
	struct packing *packing = arg;
	const struct batch *batch = packing->batch;
	const struct embeddings *result = packing->result;
	yyjson_mut_doc *doc = json_doc_new(packing->arena);
	yyjson_mut_val *rows = yyjson_mut_arr(doc);
	int8_t *row = arena_alloc(packing->arena, result->dimension);
	float scale;
	for (size_t i = 0; i < batch->count; i++) {
		yyjson_mut_val *out = yyjson_mut_arr_add_obj(doc, rows);
		const char *id = pg_get(batch->rows, batch->needed[i], "arxiv_id");
		const char *digest = pg_get(batch->rows, batch->needed[i], "digest");
		vectors_quantise(result->vectors + i * result->dimension, result->dimension, row,
		                 &scale);
		yyjson_mut_obj_add_str(doc, out, "arxiv_id", id);
		yyjson_mut_obj_add_str(doc, out, "digest", digest);
		yyjson_mut_obj_add_str(doc, out, "vector",
		                       base64_encode(packing->arena, row, result->dimension));
	}
	packing->json = json_write_mut(packing->arena, rows, NULL);
}

/* Store the vectors `rows_json` and the progress, and release the lease. False when the lease was
 * lost: another replica repeats the batch, so this is not an error. */
static bool store(struct request *rq, const struct batch *batch, uint32_t dimension,
                  const char *rows_json)
{
	int64_t done = pg_get_int(batch->rows, batch->rows->count - 1, "change");
	struct pg_rows *stored = pg_query(rq, VECTOR_STORE_SQL, pg_text(embeddings_space()),
	                                  pg_text(rq->worker->process->instance), pg_int(done),
	                                  pg_int(dimension), pg_text(rows_json));
	return !pg_empty(stored);
}

static void store_progress(struct request *rq, const struct batch *batch)
{
	store(rq, batch, 0, "[]");
}

static void store_vectors(struct request *rq, const struct batch *batch,
                          const struct embeddings *result)
{
	struct packing *packing = arena_new_of(rq->arena, struct packing);
	*packing = (struct packing){.arena = rq->arena, .batch = batch, .result = result};
	fiber_offload(rq, LANE_SHORT, pack, packing);
	if (store(rq, batch, result->dimension, packing->json))
		metric_add(&embedded_counter, NULL, NULL, (double)batch->count);
}

/* --- The endpoint ----------------------------------------------------------------------------- */

/* Returns milliseconds to the next try. A Retry-After applies to every replica: the lease is
 * extended until then. */
static uint64_t note_failure(struct request *rq, struct paper_embedding *papers,
                             const struct embeddings *result)
{
	if (papers->failures++ == 0)
		log_warn("cannot embed papers; retrying", f_text("reason", result->reason));
	if (result->retry_after_ms)
		pg_query(rq, VECTOR_EXTEND_LEASE_SQL, pg_text(embeddings_space()),
		         pg_text(rq->worker->process->instance),
		         pg_int((int64_t)result->retry_after_ms / 1000));
	return MAX_OF(backoff_ms(papers->failures, RETRY_MIN_MS, RETRY_MAX_MS),
	              result->retry_after_ms);
}

static void note_success(struct paper_embedding *papers)
{
	if (papers->failures > 0)
		log_info("embedding papers again");
	papers->failures = 0;
	papers->is_suspected = false;
	papers->batch = MIN_OF(papers->batch * 2, embeddings_batch());
}

static bool has_wrong_dimension(struct request *rq, const struct batch *batch,
                                struct embeddings *result)
{
	if (batch->dimension == 0 || batch->dimension == result->dimension)
		return false;
	result->reason =
		arena_printf(rq->arena,
	                     "the vectors have %u elements, those in Postgres have %u; when the "
	                     "model changes, change EMBEDDINGS_MODEL",
	                     result->dimension, batch->dimension);
	return true;
}

/* Whether the endpoint embeds a text that is not of the batch. */
static bool accepts_others(struct request *rq, const struct batch *batch)
{
	struct embeddings *result = embeddings_create(rq, FOR_PAPERS, &PROBE_TEXT, 1);
	return result->outcome == EMBEDDINGS_MADE && !has_wrong_dimension(rq, batch, result);
}

/* Make the batch smaller, whose texts are not accepted. Of a single one skip the paper. */
static uint64_t halve(struct request *rq, struct paper_embedding *papers, const struct batch *batch,
                      const struct embeddings *result)
{
	if (batch->rows->count > 1) {
		papers->batch = (size_t)batch->rows->count / 2;
		return 0;
	}
	log_warn("the embedder refused a paper; skipping it",
	         f_text("arxiv_id", pg_get(batch->rows, batch->needed[0], "arxiv_id")),
	         f_text("reason", result->reason));
	store_progress(rq, batch);
	note_success(papers);
	return 0;
}

static uint64_t handle_refusal(struct request *rq, struct paper_embedding *papers,
                               const struct batch *batch, const struct embeddings *refused)
{
	if (batch->rows->count == 1 && !accepts_others(rq, batch))
		return note_failure(rq, papers, refused);
	return halve(rq, papers, batch, refused);
}

/* The endpoint failed. When it does so again and again for the batch, but not for another text, the
 * batch is halved, and a single text skipped. The latter only at the second time: between the two
 * calls of the first the endpoint may have come back. */
static uint64_t handle_failure(struct request *rq, struct paper_embedding *papers,
                               const struct batch *batch, const struct embeddings *failed)
{
	bool was_suspected = papers->is_suspected;
	papers->is_suspected = false;
	if (papers->failures < FAILURES_SUSPECT || failed->is_limited || failed->retry_after_ms ||
	    !accepts_others(rq, batch))
		return note_failure(rq, papers, failed);
	if (batch->rows->count > 1 || was_suspected)
		return halve(rq, papers, batch, failed);
	papers->is_suspected = true;
	return POLL_MS;
}

/* --- Passes ----------------------------------------------------------------------------------- */

/* Embed the next batch; the diagram in paper_embedding.h shows the steps. Returns milliseconds to
 * the next pass. */
static uint64_t embed_batch(struct request *rq, struct paper_embedding *papers)
{
	struct batch batch = {0};
	uint64_t done;
	if (!acquire_lease(rq, &done, &batch.dimension))
		return POLL_MS;
	read_batch(rq, done, papers->batch, &batch);
	if (batch.rows->count == 0)
		return POLL_MS;
	if (batch.count == 0) {
		store_progress(rq, &batch);
		return 0;
	}
	struct embeddings *result = embeddings_create(rq, FOR_PAPERS, batch.texts, batch.count);
	if (result->outcome == EMBEDDINGS_REFUSED)
		return handle_refusal(rq, papers, &batch, result);
	if (result->outcome == EMBEDDINGS_FAILED)
		return handle_failure(rq, papers, &batch, result);
	if (has_wrong_dimension(rq, &batch, result))
		return note_failure(rq, papers, result);
	store_vectors(rq, &batch, result);
	note_success(papers);
	return 0;
}

static void pass(struct request *rq)
{
	struct paper_embedding *papers = periodic_user(rq);
	const struct process *process = rq->worker->process;
	uint64_t next_ms = POLL_MS;
	if (process->is_migrated && !process->is_draining)
		next_ms = embed_batch(rq, papers);
	periodic_wake_in(papers->periodic, next_ms);
}

struct paper_embedding *paper_embedding_start(struct worker *worker)
{
	if (!embeddings_space())
		return NULL;
	struct paper_embedding *papers = calloc(1, sizeof(*papers));
	require(papers);
	papers->batch = embeddings_batch();
	papers->periodic = periodic_new(worker, "embed-papers", pass, papers, PERIODIC_WHEN_WOKEN,
	                                PASS_TIMEOUT_FACTOR * (embeddings_timeout_ms(FOR_PAPERS) +
	                                                       LEASE_SPARE_MS));
	periodic_wake(papers->periodic);
	return papers;
}

void paper_embedding_stop(struct paper_embedding *papers)
{
	if (!papers)
		return;
	periodic_stop(papers->periodic);
	periodic_free(papers->periodic);
	free(papers);
}
