#include "engine/text/parallel.h"

#include "engine/text/mem.h"

#include <pthread.h>
#include <stdbool.h>

struct parallel {
	/* Protects `loop`, `working` and `is_ending`; the other members do not change while helpers
	 * work. */
	pthread_mutex_t lock;
	pthread_cond_t begun;
	pthread_cond_t done;
	uint64_t loop; /* number of the current loop */
	size_t count;
	parallel_cb *cb;
	void *ctx;
	size_t working; /* helpers that have not finished the loop */
	bool is_ending;
	size_t helper_count;
	struct helper *helpers;
};

struct helper {
	struct parallel *parallel;
	pthread_t thread;
	size_t number; /* from 1; the thread of the caller is 0 */
};

static void run_share(const struct parallel *parallel, size_t number)
{
	size_t shares = parallel->helper_count + 1;
	size_t first = parallel->count * number / shares;
	size_t end = parallel->count * (number + 1) / shares;
	if (first < end)
		parallel->cb(first, end, parallel->ctx);
}

/* Wait for a loop after number `last`. Returns its number; 0: the threads are to end. */
static uint64_t wait_for_loop(struct parallel *parallel, uint64_t last)
{
	pthread_mutex_lock(&parallel->lock);
	while (parallel->loop == last && !parallel->is_ending)
		pthread_cond_wait(&parallel->begun, &parallel->lock);
	uint64_t loop = parallel->is_ending ? 0 : parallel->loop;
	pthread_mutex_unlock(&parallel->lock);
	return loop;
}

static void *help(void *arg)
{
	struct helper *helper = arg;
	struct parallel *parallel = helper->parallel;
	for (uint64_t loop = 0; (loop = wait_for_loop(parallel, loop)) != 0;) {
		run_share(parallel, helper->number);
		pthread_mutex_lock(&parallel->lock);
		if (--parallel->working == 0)
			pthread_cond_signal(&parallel->done);
		pthread_mutex_unlock(&parallel->lock);
	}
	return NULL;
}

struct parallel *parallel_new(int threads)
{
	struct parallel *parallel = mem_array(1, sizeof(*parallel));
	require(threads > 0);
	require(pthread_mutex_init(&parallel->lock, NULL) == 0);
	require(pthread_cond_init(&parallel->begun, NULL) == 0);
	require(pthread_cond_init(&parallel->done, NULL) == 0);
	parallel->helpers = mem_array((size_t)threads - 1, sizeof(*parallel->helpers));
	for (size_t i = 0; i + 1 < (size_t)threads; i++) {
		struct helper *helper = &parallel->helpers[i];
		*helper = (struct helper){.parallel = parallel, .number = i + 1};
		if (pthread_create(&helper->thread, NULL, help, helper) != 0)
			break;
		parallel->helper_count++;
	}
	return parallel;
}

void parallel_free(struct parallel *parallel)
{
	pthread_mutex_lock(&parallel->lock);
	parallel->is_ending = true;
	pthread_cond_broadcast(&parallel->begun);
	pthread_mutex_unlock(&parallel->lock);
	for (size_t i = 0; i < parallel->helper_count; i++)
		pthread_join(parallel->helpers[i].thread, NULL);
	pthread_mutex_destroy(&parallel->lock);
	pthread_cond_destroy(&parallel->begun);
	pthread_cond_destroy(&parallel->done);
	free(parallel->helpers);
	free(parallel);
}

void parallel_run(struct parallel *parallel, size_t count, parallel_cb *cb, void *ctx)
{
	pthread_mutex_lock(&parallel->lock);
	parallel->count = count;
	parallel->cb = cb;
	parallel->ctx = ctx;
	parallel->working = parallel->helper_count;
	parallel->loop++;
	pthread_cond_broadcast(&parallel->begun);
	pthread_mutex_unlock(&parallel->lock);
	run_share(parallel, 0);
	pthread_mutex_lock(&parallel->lock);
	while (parallel->working > 0)
		pthread_cond_wait(&parallel->done, &parallel->lock);
	pthread_mutex_unlock(&parallel->lock);
}
