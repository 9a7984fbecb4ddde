/** What is done to the index away from the loop: each function is one piece of work for
 * fiber_offload(). Those that change the engine hold its lock meanwhile: one writer at a time. */
#pragma once

#include "engine/engine.h"

#include <uv.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/** The engine and what guards it. */
struct index_writer {
	struct engine *engine;
	uv_mutex_t lock;
	const _Atomic bool *stop; /* a merge is given up when it becomes true */
};

/** One piece of work; which members it uses is its own matter. */
struct index_work {
	struct index_writer *writer;
	struct engine_change *changes;
	size_t count;
	struct engine_merge *merge; /* NULL: one of what is there when the work runs */
	const char *path;           /* of the snapshot */
	bool is_done;               /* the outcome of restore, merge and save */
};

/** Take in `changes`. */
void index_work_apply(void *work);

/** Add the papers of `changes` to `merge`, a load that nobody else knows yet. */
void index_work_add(void *work);

/** Take the index from the snapshot at `path`, and remove what earlier ones left beside it. */
void index_work_restore(void *work);

/** Run `merge` and publish it. */
void index_work_merge(void *work);

/** Save the index to `path`. */
void index_work_save(void *work);
