/** Writes log lines from a thread of its own, so that a reader that stalls (of a pipe, a socket or
 * a terminal) does not stop the threads that log. For log.c only.
 *
 * Lines wait in memory until they are written. The thread lets them gather for LOG_GATHER_MS, since
 * a write and a wake-up of its reader for each line cost more than all that makes the line; it does
 * not wait for more when a line is urgent or half the memory is full. When LOG_WAITING_BYTES wait,
 * further lines are dropped and counted in expops_log_lines_dropped_total; as soon as lines are
 * written again, one line says how many were dropped.
 */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOG_WAITING_BYTES (1 << 20)
#define LOG_GATHER_MS     10

/** Format the line that reports `count` dropped lines. */
typedef void log_dropped_fn(struct buf *line, uint64_t count);

/** Start the thread, which writes to `descriptor`. Once. */
void log_writer_start(int descriptor, log_dropped_fn *dropped_line);

/** Give it a line, which ends in a line feed; copies. False: the thread was not started. */
bool log_writer_add(const char *line, size_t length, bool is_urgent);

/** Wait until all lines are written, but not longer than `timeout_ms`. */
void log_writer_flush(uint64_t timeout_ms);

/** Write all of `text` to `descriptor`, at most PIPE_BUF bytes at once, in whole lines: a pipe
 * keeps such pieces apart from those of other processes. Waits while the descriptor is full. Text
 * that cannot be written is lost. */
void log_write_lines(int descriptor, const char *text, size_t length);
