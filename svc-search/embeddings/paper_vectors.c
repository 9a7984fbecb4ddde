#include "embeddings/paper_vectors.h"

#include "base/backoff.h"
#include "base/crypto.h"
#include "base/json.h"
#include "base/log.h"
#include "base/metrics.h"
#include "embeddings/embeddings.h"
#include "engine/vector/vectors.h"
#include "loop/periodic.h"
#include "loop/wait.h"
#include "pg/pg.h"
#include "service/process.h"
#include "vector.sql.h"

#include <stdlib.h>

#define SWEEP_MS 1000

/* Of a turn, beside what the call takes; of a pass, that of a text that is refused takes two. */
#define SPARE_MS 5000

#define PAUSE_MIN_MS 500
#define PAUSE_MAX_MS 60000

/* What any embedder takes. */
static const char *const HARMLESS = "paper";

struct paper_vectors {
	struct worker *worker;
	struct periodic *periodic;
	size_t batch;      /* papers to look at next */
	unsigned failures; /* of the endpoint, in a row */
};

/* Columns of VECTOR_PENDING_SQL. */
enum pending {
	PENDING_CHANGE,
	PENDING_ID,
	PENDING_TITLE,
	PENDING_ABSTRACT,
	PENDING_DIGEST,
	PENDING_NEEDED
};

/* Papers that are seen to in one pass. */
struct batch {
	const struct pg_rows *rows;
	uint32_t dimension; /* of the space; 0: not known yet */
	size_t count;       /* those that need a vector: */
	int *needed;        /* their rows */
	const char **texts;
};

static struct metric embedded_counter =
	METRIC_COUNTER("expops_embedded_papers_total", "Papers embedded by this replica.");

/* --- Postgres --------------------------------------------------------------------------------- */

/* Take the turn. False: there is nothing to do, or it is another's. */
static bool claim(struct request *rq, uint64_t *ret_done, uint32_t *ret_dimension)
{
	uint64_t turn_ms = embeddings_timeout_ms(FOR_PAPERS) + SPARE_MS;
	struct pg_rows *rows = pg_query(rq, VECTOR_WANTED_SQL, pg_text(embeddings_space()));
	if (!pg_value_bool(rows, 0, 0))
		return false;
	rows = pg_query(rq, VECTOR_CLAIM_SQL, pg_text(embeddings_space()),
	                pg_text(rq->worker->process->instance),
	                pg_int((int64_t)(turn_ms + 999) / 1000));
	if (pg_empty(rows))
		return false;
	*ret_done = (uint64_t)pg_value_int(rows, 0, 0);
	*ret_dimension = (uint32_t)pg_value_int(rows, 0, 1);
	return true;
}

static void read_batch(struct request *rq, uint64_t done, size_t limit, struct batch *batch)
{
	batch->rows = pg_query(rq, VECTOR_PENDING_SQL, pg_text(embeddings_space()),
	                       pg_int((int64_t)done), pg_int((int64_t)limit));
	batch->needed = arena_array(rq->arena, (size_t)batch->rows->count, sizeof(int));
	batch->texts = arena_array(rq->arena, (size_t)batch->rows->count, sizeof(char *));
	for (int row = 0; row < batch->rows->count; row++) {
		if (!pg_value_bool(batch->rows, row, PENDING_NEEDED))
			continue;
		batch->needed[batch->count] = row;
		batch->texts[batch->count++] =
			arena_printf(rq->arena, "%s\n%s", pg_value(batch->rows, row, PENDING_TITLE),
		                     pg_value(batch->rows, row, PENDING_ABSTRACT));
	}
}

/* Writing the vectors of a batch, away from the loop. */
struct packing {
	struct arena *arena;
	const struct batch *batch;
	const struct embeddings *made;
	const char *json; /* the outcome: what VECTOR_STORE_SQL takes */
};

static void pack(void *arg)
{
	struct packing *packing = arg;
	const struct batch *batch = packing->batch;
	const struct embeddings *made = packing->made;
	yyjson_mut_doc *doc = json_doc_new(packing->arena);
	yyjson_mut_val *rows = yyjson_mut_arr(doc);
	int8_t *row = arena_alloc(packing->arena, made->dimension);
	float scale;
	for (size_t i = 0; i < batch->count; i++) {
		yyjson_mut_val *out = yyjson_mut_arr_add_obj(doc, rows);
		const char *id = pg_value(batch->rows, batch->needed[i], PENDING_ID);
		const char *digest = pg_value(batch->rows, batch->needed[i], PENDING_DIGEST);
		vectors_quantise(made->vectors + i * made->dimension, made->dimension, row, &scale);
		yyjson_mut_obj_add_str(doc, out, "arxiv_id", id);
		yyjson_mut_obj_add_str(doc, out, "digest", digest);
		yyjson_mut_obj_add_str(doc, out, "vector",
		                       base64_encode(packing->arena, row, made->dimension));
	}
	packing->json = json_write_mut(packing->arena, rows, NULL);
}

/* The batch is done, with the vectors `rows_json`; false when it was not this replica's turn any
 * more, which needs no word: another does it. */
static bool store(struct request *rq, const struct batch *batch, uint32_t dimension,
                  const char *rows_json)
{
	int64_t done = pg_value_int(batch->rows, batch->rows->count - 1, PENDING_CHANGE);
	struct pg_rows *stored = pg_query(rq, VECTOR_STORE_SQL, pg_text(embeddings_space()),
	                                  pg_text(rq->worker->process->instance), pg_int(done),
	                                  pg_int(dimension), pg_text(rows_json));
	return !pg_empty(stored);
}

static void store_nothing(struct request *rq, const struct batch *batch)
{
	store(rq, batch, 0, "[]");
}

static void store_vectors(struct request *rq, const struct batch *batch,
                          const struct embeddings *made)
{
	struct packing *packing = arena_new_of(rq->arena, struct packing);
	*packing = (struct packing){.arena = rq->arena, .batch = batch, .made = made};
	fiber_offload(rq, pack, packing);
	if (store(rq, batch, made->dimension, packing->json))
		metric_add(&embedded_counter, NULL, NULL, (double)batch->count);
}

/* --- The endpoint ----------------------------------------------------------------------------- */

/* Milliseconds to the next try. What the endpoint asks for holds for every replica: the turn lasts
 * until then. */
static uint64_t note_failure(struct request *rq, struct paper_vectors *papers,
                             const struct embeddings *made)
{
	if (papers->failures++ == 0)
		log_warn(LOG_GROUP_APP, "papers are not embedded, trying again",
		         f_text("reason", made->why));
	if (made->retry_after_ms)
		pg_query(rq, VECTOR_PAUSE_SQL, pg_text(embeddings_space()),
		         pg_text(rq->worker->process->instance),
		         pg_int((int64_t)made->retry_after_ms / 1000));
	return MAX_OF(backoff_ms(papers->failures, PAUSE_MIN_MS, PAUSE_MAX_MS),
	              made->retry_after_ms);
}

static void note_success(struct paper_vectors *papers)
{
	if (papers->failures > 0)
		log_info(LOG_GROUP_APP, "papers are embedded again");
	papers->failures = 0;
	papers->batch = MIN_OF(papers->batch * 2, embeddings_batch());
}

/* The one text of the batch was refused. If the endpoint takes another, it is the text's fault. */
static uint64_t pass_over(struct request *rq, struct paper_vectors *papers,
                          const struct batch *batch, const struct embeddings *refused)
{
	struct embeddings *made = embeddings_make(rq, FOR_PAPERS, &HARMLESS, 1);
	if (made->outcome != EMBEDDINGS_MADE)
		return note_failure(rq, papers, refused);
	log_warn(LOG_GROUP_APP, "a paper cannot be embedded",
	         f_text("arxiv_id", pg_value(batch->rows, batch->needed[0], PENDING_ID)),
	         f_text("reason", refused->why));
	store_nothing(rq, batch);
	note_success(papers);
	return 0;
}

static uint64_t halve(struct paper_vectors *papers, const struct batch *batch)
{
	papers->batch = MAX_OF((size_t)batch->rows->count / 2, (size_t)1);
	return 0;
}

static bool is_of_another_dimension(struct request *rq, const struct batch *batch,
                                    struct embeddings *made)
{
	if (batch->dimension == 0 || batch->dimension == made->dimension)
		return false;
	made->why = arena_printf(rq->arena,
	                         "vectors of %u elements, those kept have %u: a model that has "
	                         "changed needs another name",
	                         made->dimension, batch->dimension);
	return true;
}

/* --- Passes ----------------------------------------------------------------------------------- */

/* See to one batch. Returns milliseconds to the next pass. */
static uint64_t see_to_batch(struct request *rq, struct paper_vectors *papers)
{
	struct batch batch = {0};
	uint64_t done;
	if (!claim(rq, &done, &batch.dimension))
		return SWEEP_MS;
	read_batch(rq, done, papers->batch, &batch);
	if (batch.rows->count == 0)
		return SWEEP_MS;
	if (batch.count == 0) {
		store_nothing(rq, &batch);
		return 0;
	}
	struct embeddings *made = embeddings_make(rq, FOR_PAPERS, batch.texts, batch.count);
	if (made->outcome == EMBEDDINGS_REFUSED)
		return batch.rows->count > 1 ? halve(papers, &batch)
		                             : pass_over(rq, papers, &batch, made);
	if (made->outcome == EMBEDDINGS_FAILED || is_of_another_dimension(rq, &batch, made))
		return note_failure(rq, papers, made);
	store_vectors(rq, &batch, made);
	note_success(papers);
	return 0;
}

static void pass(struct request *rq)
{
	struct paper_vectors *papers = periodic_user(rq);
	const struct process *process = rq->worker->process;
	uint64_t next_ms = SWEEP_MS;
	if (process->is_migrated && !process->is_draining)
		next_ms = see_to_batch(rq, papers);
	periodic_wake_in(papers->periodic, next_ms);
}

struct paper_vectors *paper_vectors_start(struct worker *worker)
{
	if (!embeddings_space())
		return NULL;
	struct paper_vectors *papers = calloc(1, sizeof(*papers));
	require(papers);
	metric_register(&embedded_counter);
	papers->worker = worker;
	papers->batch = embeddings_batch();
	papers->periodic = periodic_new(worker, "embed-papers", pass, papers, PERIODIC_WHEN_WOKEN,
	                                4 * (embeddings_timeout_ms(FOR_PAPERS) + SPARE_MS));
	periodic_wake(papers->periodic);
	return papers;
}

void paper_vectors_stop(struct paper_vectors *papers)
{
	if (!papers)
		return;
	periodic_stop(papers->periodic);
	periodic_free(papers->periodic);
	free(papers);
}
