#include "observe/trace_queue.h"

#include "base/base.h"
#include "base/timefmt.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Spans are added to one half of `memory` while the taker has the other. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	char *memory; /* NULL: not started */
	struct trace_batch waiting;
	bool is_ending;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER};

void trace_queue_start(void)
{
	pthread_condattr_t monotonic;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&queue.changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	queue.memory = malloc(2 * TRACE_QUEUE_BYTES);
	require(queue.memory);
	queue.waiting = (struct trace_batch){.text = queue.memory};
	queue.is_ending = false;
}

/* Whether the taker need not wait for more. */
static bool is_due(void)
{
	return queue.is_ending || queue.waiting.length > TRACE_QUEUE_BYTES / 2;
}

static bool append(const char *text, size_t length)
{
	struct trace_batch *waiting = &queue.waiting;
	if (!queue.memory || length + 1 > TRACE_QUEUE_BYTES - waiting->length)
		return false;
	if (waiting->count++ > 0)
		waiting->text[waiting->length++] = ',';
	memcpy(waiting->text + waiting->length, text, length);
	waiting->length += length;
	return true;
}

bool trace_queue_add(const char *text, size_t length)
{
	pthread_mutex_lock(&queue.lock);
	bool is_added = append(text, length);
	if (is_added && (queue.waiting.count == 1 || is_due()))
		pthread_cond_signal(&queue.changed);
	pthread_mutex_unlock(&queue.lock);
	return is_added;
}

bool trace_queue_take(struct trace_batch *ret_batch, uint64_t linger_ms)
{
	pthread_mutex_lock(&queue.lock);
	while (queue.waiting.count == 0 && !queue.is_ending)
		pthread_cond_wait(&queue.changed, &queue.lock);
	struct timespec until = time_monotonic_in(linger_ms);
	while (!is_due() && pthread_cond_timedwait(&queue.changed, &queue.lock, &until) == 0)
		;
	*ret_batch = queue.waiting;
	bool is_first_half = queue.waiting.text == queue.memory;
	queue.waiting = (struct trace_batch){
		.text = is_first_half ? queue.memory + TRACE_QUEUE_BYTES : queue.memory};
	pthread_mutex_unlock(&queue.lock);
	return ret_batch->count > 0;
}

bool trace_queue_pause(uint64_t ms)
{
	struct timespec until = time_monotonic_in(ms);
	pthread_mutex_lock(&queue.lock);
	while (!queue.is_ending && pthread_cond_timedwait(&queue.changed, &queue.lock, &until) == 0)
		;
	bool is_ending = queue.is_ending;
	pthread_mutex_unlock(&queue.lock);
	return !is_ending;
}

void trace_queue_end(void)
{
	pthread_mutex_lock(&queue.lock);
	queue.is_ending = true;
	pthread_cond_signal(&queue.changed);
	pthread_mutex_unlock(&queue.lock);
}

void trace_queue_free(void)
{
	pthread_mutex_lock(&queue.lock);
	free(queue.memory);
	queue.memory = NULL;
	queue.waiting = (struct trace_batch){0};
	pthread_mutex_unlock(&queue.lock);
}
