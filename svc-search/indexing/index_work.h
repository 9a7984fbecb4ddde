/** One unit of work on the index: a batch of changes read from Postgres, or an operation that takes
 * long. The functions with a `void *work` parameter run on the thread pool, by fiber_offload():
 * index_work_apply() and index_work_collect() in the short lane, because new changes must not wait
 * for a merge, and the others in the long one. Those that change the engine hold index_writer.lock,
 * so that there is one writer at a time. */
#pragma once

#include "engine/engine.h"
#include "indexing/follower.h"
#include "loop/request.h"

#include <uv.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/** The engine and the lock of its writers. */
struct index_writer {
	struct engine *engine;
	uv_mutex_t lock;
	const _Atomic bool *cancel; /* a merge is abandoned when it becomes true; borrowed */
};

/** In the arena of the request. Each function below says which members it uses. */
struct index_work {
	struct index_writer *writer;
	struct engine_change *changes;
	size_t count;              /* of `changes` */
	uint64_t complete;         /* index_work_apply(): see engine_apply() */
	const char *path;          /* of the snapshot */
	struct embedder *embedder; /* index_work_adopt(), which takes it */
	bool has_run;              /* index_work_restore(), whether it succeeded or not */
	bool is_done;              /* whether restore, adoption, merge or save succeeded */
	bool has_file_failed;      /* of a merge, which is in memory then */
};

/** Whether index_work_collect() has something to do; false while another thread changes the
 * engine. */
bool index_writer_has_garbage(struct index_writer *writer);

/** Empty work on the engine of `writer`. Borrows. */
struct index_work *index_work_new(struct request *rq, struct index_writer *writer);

/** Read the changes of `page` into `changes` of new work. `space` names the vectors to read with
 * the papers; NULL: none. Suspends. */
struct index_work *index_work_read(struct request *rq, struct index_writer *writer,
                                   const char *space, const struct follower_page *page);

/** Apply `changes` to the engine, which is `complete` then. */
void index_work_apply(void *work);

/** Free the old views of the engine that have no reader any more. */
void index_work_collect(void *work);

/** Restore the index from the snapshot at `path`, and remove stale files in its folder. Sets
 * `is_done` and `has_run`. */
void index_work_restore(void *work);

/** Replace all vectors by those of `embedder`, and publish the result. Sets `is_done`; false: it
 * was abandoned because of writer->cancel. */
void index_work_adopt(void *work);

/** Run a merge that is due and publish its result. Sets `has_file_failed` and `is_done`; false: it
 * was abandoned because of writer->cancel, or there was nothing to merge. */
void index_work_merge(void *work);

/** Save the index to `path`. Sets `is_done`. */
void index_work_save(void *work);
