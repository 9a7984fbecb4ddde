#include "loop/thread_pool.h"

#include "base/base.h"
#include "base/resources.h"
#include "base/timefmt.h"
#include "observe/metrics.h"

#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>

/* A third of the weight of a thread that clients wait for. */
#define LONG_NICE 5

_Atomic uint64_t thread_pool_idle_ms = 10000;

struct lane_state {
	const char *name; /* of its threads, and in metrics */
	int nice; /* of its threads: the processor time that they leave to others, see nice(2) */
	int threads_max;
	pthread_mutex_t lock; /* of the members below */
	pthread_cond_t added; /* to `waiting` */
	struct fair_queue waiting;
	int waiting_count;
	int threads, idle_threads;
};

static struct lane_state lanes[LANE_COUNT] = {
	[LANE_SHORT] = {.name = "short"},
	[LANE_LONG] = {.name = "long", .nice = LONG_NICE},
	[LANE_BATCH] = {.name = "batch", .nice = LONG_NICE},
};
static pthread_once_t lanes_once = PTHREAD_ONCE_INIT;

METRIC_HISTOGRAM(wait_seconds, "expops_computation_wait_seconds",
                 "How long computations waited for a thread of their lane.", "lane");

static void lanes_init(void)
{
	int processors = cpu_count();
	pthread_condattr_t monotonic;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	lanes[LANE_SHORT].threads_max = MAX_OF(processors, 2);
	lanes[LANE_LONG].threads_max = MAX_OF(processors - 1, 1);
	lanes[LANE_BATCH].threads_max = MAX_OF(processors - 1, 1);
	for (enum lane lane = 0; lane < LANE_COUNT; lane++) {
		pthread_mutex_init(&lanes[lane].lock, NULL);
		pthread_cond_init(&lanes[lane].added, &monotonic);
		fair_queue_init(&lanes[lane].waiting);
	}
	pthread_condattr_destroy(&monotonic);
}

static struct lane_state *lane_of(enum lane lane)
{
	pthread_once(&lanes_once, lanes_init);
	return &lanes[lane];
}

/* It does not wait any more: after fair_queue_serve() or fair_queue_remove(). */
static void unqueued(struct lane_state *lane, struct computation *computation)
{
	lane->waiting_count--;
	computation->is_waiting = false;
}

static void give_up(struct lane_state *lane, struct computation *computation)
{
	fair_queue_remove(&lane->waiting, &computation->entry);
	unqueued(lane, computation);
}

/* The next computation; NULL: there was none for thread_pool_idle_ms. With the lock. */
static struct computation *take(struct lane_state *lane)
{
	struct timespec until = time_monotonic_in(thread_pool_idle_ms);
	int status = 0;
	lane->idle_threads++;
	while (lane->waiting_count == 0 && status != ETIMEDOUT)
		status = pthread_cond_timedwait(&lane->added, &lane->lock, &until);
	lane->idle_threads--;
	struct fair_entry *entry = fair_queue_first(&lane->waiting);
	if (!entry)
		return NULL;
	struct computation *computation = CONTAINER_OF(entry, struct computation, entry);
	fair_queue_serve(&lane->waiting, entry);
	unqueued(lane, computation);
	return computation;
}

static void run(const struct lane_state *lane, struct computation *computation)
{
	double waited_s = (double)(time_monotonic_us() - computation->queued_us) / 1e6;
	metric_observe_seconds(&wait_seconds, lane->name, NULL, waited_s);
	computation->run(computation);
	computation->done(computation);
}

static void *thread_main(void *arg)
{
	struct lane_state *lane = arg;
	struct computation *computation;
	pthread_setname_np(pthread_self(), lane->name);
	/* Of this thread alone, on Linux. */
	setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + lane->nice);
	pthread_mutex_lock(&lane->lock);
	while ((computation = take(lane))) {
		pthread_mutex_unlock(&lane->lock);
		run(lane, computation);
		pthread_mutex_lock(&lane->lock);
	}
	lane->threads--;
	pthread_mutex_unlock(&lane->lock);
	return NULL;
}

/* Start a thread if there are more computations than idle threads. With the lock. False: the lane
 * has no thread. */
static bool grow(struct lane_state *lane)
{
	pthread_t thread;
	if (lane->waiting_count > lane->idle_threads && lane->threads < lane->threads_max &&
	    pthread_create(&thread, NULL, thread_main, lane) == 0) {
		pthread_detach(thread);
		lane->threads++;
	}
	return lane->threads > 0;
}

bool thread_pool_add(enum lane lane, struct computation *computation, const struct uuid *account)
{
	struct lane_state *state = lane_of(lane);
	computation->lane = lane;
	computation->queued_us = time_monotonic_us();
	computation->is_waiting = true;
	pthread_mutex_lock(&state->lock);
	fair_queue_add(&state->waiting, &computation->entry, account, 0);
	state->waiting_count++;
	bool has_thread = grow(state);
	if (has_thread)
		pthread_cond_signal(&state->added);
	else
		give_up(state, computation);
	pthread_mutex_unlock(&state->lock);
	return has_thread;
}

bool thread_pool_withdraw(struct computation *computation)
{
	struct lane_state *lane = lane_of(computation->lane);
	pthread_mutex_lock(&lane->lock);
	bool was_waiting = computation->is_waiting;
	if (was_waiting)
		give_up(lane, computation);
	pthread_mutex_unlock(&lane->lock);
	return was_waiting;
}

int thread_pool_threads_max(enum lane lane)
{
	return lane_of(lane)->threads_max;
}

int thread_pool_threads(enum lane lane)
{
	struct lane_state *state = lane_of(lane);
	pthread_mutex_lock(&state->lock);
	int threads = state->threads;
	pthread_mutex_unlock(&state->lock);
	return threads;
}
