#include "observe/log_writer.h"

#include "base/timefmt.h"
#include "observe/metrics.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

METRIC_COUNTER(dropped_total, "expops_log_lines_dropped_total",
               "Log lines dropped because the reader of the log was too slow.");

/* Lines are added to one half of `memory` while the thread writes the other. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t added; /* the first line, or one that makes the lines urgent */
	pthread_cond_t written;
	bool is_started;
	bool is_urgent;  /* the thread must not wait for more lines */
	bool is_writing; /* the thread has lines that are not written yet */
	int descriptor;
	log_dropped_fn *dropped_line;
	char *waiting; /* half of `memory` */
	size_t length; /* of the lines in `waiting` */
	uint64_t dropped;
	char memory[2][LOG_WAITING_BYTES];
} writer = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void write_all(int descriptor, const char *text, size_t length)
{
	while (length > 0) {
		ssize_t written = write(descriptor, text, length);
		if (written >= 0) {
			text += written;
			length -= (size_t)written;
		} else if (errno == EAGAIN) {
			poll(&(struct pollfd){.fd = descriptor, .events = POLLOUT}, 1, -1);
		} else if (errno != EINTR) {
			return;
		}
	}
}

/* The length of the whole lines at the start of `text` that fit into one write. */
static size_t piece_length(const char *text, size_t length)
{
	if (length <= PIPE_BUF)
		return length;
	const char *end = memrchr(text, '\n', PIPE_BUF);
	return end ? (size_t)(end - text) + 1 : PIPE_BUF;
}

void log_write_lines(int descriptor, const char *text, size_t length)
{
	while (length > 0) {
		size_t piece = piece_length(text, length);
		write_all(descriptor, text, piece);
		text += piece;
		length -= piece;
	}
}

static void write_dropped_line(uint64_t count)
{
	struct arena *arena = arena_new();
	struct buf line = {.arena = arena};
	writer.dropped_line(&line, count);
	log_write_lines(writer.descriptor, line.data, line.length);
	arena_free(arena);
}

/* Wait until there are lines to be written. The lock is held. */
static void wait_for_lines(void)
{
	while (writer.length == 0)
		pthread_cond_wait(&writer.added, &writer.lock);
	struct timespec until = time_monotonic_in(LOG_GATHER_MS);
	int status = 0;
	while (status == 0 && !writer.is_urgent)
		status = pthread_cond_timedwait(&writer.added, &writer.lock, &until);
	writer.is_urgent = false;
}

static void *writer_main(void *unused)
{
	pthread_mutex_lock(&writer.lock);
	for (;;) {
		wait_for_lines();
		const char *lines = writer.waiting;
		size_t length = writer.length;
		uint64_t dropped = writer.dropped;
		writer.waiting = writer.memory[lines == writer.memory[0]];
		writer.length = 0;
		writer.dropped = 0;
		writer.is_writing = true;
		pthread_mutex_unlock(&writer.lock);

		log_write_lines(writer.descriptor, lines, length);
		if (dropped > 0)
			write_dropped_line(dropped);

		pthread_mutex_lock(&writer.lock);
		writer.is_writing = false;
		pthread_cond_broadcast(&writer.written);
	}
	return unused;
}

void log_writer_start(int descriptor, log_dropped_fn *dropped_line)
{
	pthread_condattr_t monotonic;
	pthread_t thread;
	require(!writer.is_started);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&writer.added, &monotonic);
	pthread_cond_init(&writer.written, &monotonic);
	pthread_condattr_destroy(&monotonic);
	writer.descriptor = descriptor;
	writer.dropped_line = dropped_line;
	writer.waiting = writer.memory[0];
	require(pthread_create(&thread, NULL, writer_main, NULL) == 0);
	pthread_detach(thread);
	writer.is_started = true;
}

/* Have the lines written now. The lock is held. */
static void hurry(void)
{
	writer.is_urgent = true;
	pthread_cond_signal(&writer.added);
}

bool log_writer_add(const char *line, size_t length, bool is_urgent)
{
	if (!writer.is_started)
		return false;
	pthread_mutex_lock(&writer.lock);
	bool has_room = length <= LOG_WAITING_BYTES - writer.length;
	if (has_room) {
		bool is_first = writer.length == 0;
		memcpy(writer.waiting + writer.length, line, length);
		writer.length += length;
		if (is_urgent || writer.length > LOG_WAITING_BYTES / 2)
			hurry();
		else if (is_first)
			pthread_cond_signal(&writer.added);
	} else {
		writer.dropped++;
	}
	pthread_mutex_unlock(&writer.lock);
	if (!has_room)
		metric_add(&dropped_total, NULL, NULL, 1);
	return true;
}

void log_writer_flush(uint64_t timeout_ms)
{
	if (!writer.is_started)
		return;
	struct timespec until = time_monotonic_in(timeout_ms);
	pthread_mutex_lock(&writer.lock);
	if (writer.length > 0)
		hurry();
	int status = 0;
	while (status == 0 && (writer.is_writing || writer.length > 0))
		status = pthread_cond_timedwait(&writer.written, &writer.lock, &until);
	pthread_mutex_unlock(&writer.lock);
}
