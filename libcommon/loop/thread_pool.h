/** The threads of a process that compute, so that its event loops need not: a pool with lanes.
 * Fibers use it by fiber_offload() (wait.h).
 *
 * Each lane has its own threads, so long computations never keep short ones waiting:
 *
 *     lane        for                                                        threads
 *     LANE_SHORT  at most some tenths of a second, and a client may wait:    one per usable
 *                 searching, scoring, checking a signature, applying a page  processor, at least 2
 *                 of changes to an index
 *     LANE_LONG   longer, or work of a job: merging and saving an index,     one fewer than usable
 *                 recommending, fitting a model, training                    processors, at least 1
 *     LANE_BATCH  as short as in LANE_SHORT, but for a job, which is in no   one fewer than usable
 *                 hurry: the searches of the daily run                       processors, at least 1
 *     (none)      helpers of one training of the search embedder, which      half of LANE_LONG's
 *                 runs in LANE_LONG itself and starts them                   threads less one
 *     (none)      helpers of applying a page of changes, which runs in       half of LANE_SHORT's
 *                 LANE_SHORT itself; they stay                               threads less one
 *
 * In each lane accounts take turns, so that one with many computations delays those of another by
 * about one each.
 *
 * Threads of LANE_LONG and LANE_BATCH have a lower priority, so that searches and requests are
 * slowed less by a merge and by jobs. Usable processors are those of cpu_count(). Each of the two
 * leaves one of them to the event loops, because a process that uses up its CPU quota is stopped
 * with all its threads.
 *
 * Threads are started when there is work for them and end after ten seconds without work: a process
 * at rest has none. libuv's own pool is used for looking up host names only.
 */
#pragma once

#include "pacing/fair_queue.h"

#include <stdbool.h>
#include <stdint.h>

enum lane { LANE_SHORT, LANE_LONG, LANE_BATCH, LANE_COUNT };

/** One computation. The caller sets the first two members and keeps it until `done`. */
struct computation {
	void (*run)(struct computation *computation);
	/** The last use of the computation by the pool. */
	void (*done)(struct computation *computation);
	/* internal to thread_pool.c */
	struct fair_entry entry; /* while it waits */
	enum lane lane;
	uint64_t queued_us;
	bool is_waiting;
};

/** Run `run`, then `done`, on a thread of the lane. The accounts whose computations wait for a lane
 * take turns (pacing/fair_queue.h); those of one account begin in the order of these calls. The
 * account may be nil: what the process does of its own accord and what belongs to no account take
 * turns as one. Any thread. False: nothing will be called, because the system allows no thread. */
bool thread_pool_add(enum lane lane, struct computation *computation, const struct uuid *account);

/** Remove a computation that has not begun; then nothing is called. False: it has begun, or is
 * done. Any thread, before the caller has freed it. */
bool thread_pool_withdraw(struct computation *computation);

/** The most threads of a lane. */
int thread_pool_threads_max(enum lane lane);

/** Those that it has now. For tests. */
int thread_pool_threads(enum lane lane);

/** After how long without work a thread ends; tests make it shorter. */
extern _Atomic uint64_t thread_pool_idle_ms;
