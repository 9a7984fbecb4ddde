#include "indexing/trainer.h"

#include "base/timefmt.h"
#include "engine/engine.h"
#include "indexing/indexer.h"
#include "indexing/training_plan.h"
#include "loop/periodic.h"
#include "loop/thread_pool.h"
#include "loop/wait.h"
#include "observe/log.h"
#include "observe/metrics.h"
#include "service/process.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How often the corpus is looked at; more often while it comes to rest. */
#define POLL_MS      1000
#define POLL_WAIT_MS 200

/* Training takes some minutes for SAMPLE_MAX_DOCS papers on a slow machine. */
#define PASS_TIMEOUT_MS 900000

/* How often the lease is looked at during training; lease_take() renews it when that is due. */
#define HOLD_MS 500

/* Training shares the processors with merges and other long work: it gets this part of the
 * threads. */
#define THREADS_PART 2

static int64_t max_age_ms;

const struct setting TRAINER_SETTINGS[] = {
	SETTING_MS(
		&max_age_ms, "EMBEDDER_MAX_AGE", "168h", 0, INT64_C(3650) * 86400000,
		"The built-in embedder is trained again when papers have changed and its version "
		"is older than this; and whenever the number of papers has changed by half."),
	SETTING_END,
};

struct trainer {
	struct indexer *indexer;
	struct periodic *periodic;
	struct lease lease;
	struct training_plan plan;
	bool can_have_checkpoint; /* of this or of an earlier process */
};

METRIC_COUNTER(trained_counter, "expops_embedder_trained_total",
               "Versions of the built-in embedder that this replica has trained.");

/* Training on the thread pool. */
struct training_work {
	struct trainer *trainer;
	struct engine_view *view;
	const uint8_t *known; /* fingerprint of the current version; NULL: there is none */
	struct training_options options;
	bool is_over;
	bool is_known;           /* training would give the current version: it was left out */
	struct embedder_row row; /* its embedder is NULL: none could be trained */
	struct embedder *embedder;
};

static void train_on_thread(void *arg)
{
	struct training_work *work = arg;
	struct embedder_row *row = &work->row;
	struct sample *sample = engine_sample(work->view);
	training_fingerprint(sample, row->fingerprint);
	work->is_known =
		work->known && memcmp(work->known, row->fingerprint, sizeof(row->fingerprint)) == 0;
	if (!work->is_known)
		work->embedder = training_run(sample, &work->options);
	row->embedder = work->embedder;
	sample_free(sample);
	malloc_trim(0); /* training needs several times the memory of the embedder */
}

static void release_work(void *arg)
{
	struct training_work *work = arg;
	engine_view_put(work->view);
	embedder_free(work->embedder);
}

static struct training_work *work_new(struct request *rq, struct trainer *trainer,
                                      const struct embedder_state *state)
{
	struct training_work *work = arena_new_of(rq->arena, struct training_work);
	work->trainer = trainer;
	work->view = indexer_view(trainer->indexer);
	work->known = state->recipe == TRAINING_RECIPE ? state->fingerprint : NULL;
	work->options = (struct training_options){
		.threads = MAX_OF(thread_pool_threads_max(LANE_LONG) / THREADS_PART, 1),
		.checkpoint = indexer_training_path(rq->arena, trainer->indexer),
		.cancel = &rq->worker->process->is_draining,
	};
	work->row.papers = engine_view_count(work->view);
	work->row.change = engine_view_seq(work->view);
	arena_on_free(rq->arena, release_work, work);
	return work;
}

/* Keep the lease while the work runs. Once it is lost, the version cannot be stored. */
static void hold_lease(struct request *rq)
{
	struct training_work *work = rq->user;
	while (!work->is_over &&
	       lease_take(rq, &work->trainer->lease, rq->worker->process->instance))
		fiber_sleep(rq, HOLD_MS);
}

static void run(struct request *rq, struct training_work *work)
{
	fiber_spawn(rq, hold_lease, work);
	fiber_offload(rq, LANE_LONG, train_on_thread, work);
	work->is_over = true;
	fiber_join(rq);
}

static void store(struct request *rq, const struct training_work *work, uint64_t started_ms)
{
	const struct embedder_row *row = &work->row;
	if (!embedder_store_save(rq, row, &work->trainer->lease, rq->worker->process->instance))
		return;
	metric_add(&trained_counter, NULL, NULL, 1);
	log_info("embedder trained", f_text("version", row->embedder->version),
	         f_int("documents", row->papers),
	         f_float("seconds", (double)(time_monotonic_ms() - started_ms) / 1e3));
}

/* Remove the checkpoint once it is of no use; one can be left when this replica was killed and
 * another one finished the training. */
static void remove_checkpoint(struct request *rq, struct trainer *trainer)
{
	if (!trainer->can_have_checkpoint)
		return;
	const char *path = indexer_training_path(rq->arena, trainer->indexer);
	if (!path)
		return;
	unlink(path);
	trainer->can_have_checkpoint = false;
}

static void train(struct request *rq, struct trainer *trainer, const struct embedder_state *state)
{
	uint64_t started_ms = time_monotonic_ms();
	trainer->can_have_checkpoint = true;
	struct training_work *work = work_new(rq, trainer, state);
	run(rq, work);
	if (*work->options.cancel)
		return;
	if (work->is_known)
		embedder_store_confirm(rq, state->version, work->row.papers, work->row.change);
	else if (work->embedder)
		store(rq, work, started_ms);
	else
		trainer->plan.tried_change = work->row.change;
	remove_checkpoint(rq, trainer);
}

/* Returns milliseconds to the next pass. */
static uint64_t step(struct request *rq, struct trainer *trainer)
{
	struct embedder_state state = embedder_store_state(rq);
	struct engine_view *view = indexer_view(trainer->indexer);
	uint64_t index_change = engine_view_seq(view);
	engine_view_put(view);
	switch (training_plan_step(&trainer->plan, &state, index_change, (uint64_t)max_age_ms,
	                           time_monotonic_ms())) {
	case TRAINING_NOT_DUE:
		remove_checkpoint(rq, trainer);
		return POLL_MS;
	case TRAINING_WAIT:
		return POLL_WAIT_MS;
	case TRAINING_NOW:
		break;
	}
	if (lease_take(rq, &trainer->lease, rq->worker->process->instance))
		train(rq, trainer, &state);
	return POLL_MS;
}

static void pass(struct request *rq)
{
	struct trainer *trainer = periodic_user(rq);
	const struct process *process = rq->worker->process;
	uint64_t next_ms = POLL_MS;
	if (process->is_migrated && !process->is_draining)
		next_ms = step(rq, trainer);
	periodic_wake_in(trainer->periodic, next_ms);
}

struct trainer *trainer_start(struct worker *worker, struct indexer *indexer)
{
	struct trainer *trainer = calloc(1, sizeof(*trainer));
	require(trainer);
	trainer->indexer = indexer;
	trainer->lease.name = "embedder";
	trainer->can_have_checkpoint = true;
	trainer->periodic = periodic_new(worker, "train-embedder", pass, trainer,
	                                 PERIODIC_WHEN_WOKEN, PASS_TIMEOUT_MS);
	periodic_wake(trainer->periodic);
	return trainer;
}

void trainer_stop(struct trainer *trainer)
{
	if (!trainer)
		return;
	periodic_stop(trainer->periodic);
	periodic_free(trainer->periodic);
	free(trainer);
}
