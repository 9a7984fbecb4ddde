/** libcommon/observe/: what operators see of a process: logs, metrics (metrics.h), traces (trace.h)
 * and the faults of its servers (fault.h). This header has logs: one JSON object per line on
 * standard output.
 *
 *     {"time":"2026-01-31T09:30:00.000Z","level":"info","process":"svc-search","group":"http",
 *      "message":"request finished","request_id":"…","status":200,"duration_ms":1.500}
 *
 * One call reports one event, with named fields. Messages start in lower case and have no full
 * stop; text from outside goes into fields, which are escaped. Secrets must not be logged. A line
 * has at most 4096 bytes (longer text is cut) and is written by one write(2), perhaps with others,
 * so that lines of different threads do not mix.
 *
 * The group of a line is the folder whose source writes it, `notify` for svc-integrations/notify/:
 * meson.build defines LOG_GROUP for each folder. LOG_LEVEL is a level, optionally with other levels
 * for some groups: `info`, `info,pg=debug,http=warn`. log_always() does not ask for it.
 */
#pragma once

#include "base/base.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

/** One named value; the f_*() macros make it. A NULL string is written as null. */
struct log_field {
	enum { LOG_END, LOG_TEXT, LOG_INT, LOG_MS, LOG_FLOAT, LOG_BOOL } type;
	const char *name; /* borrows: a literal */
	union {
		const char *text; /* borrows until the call returns */
		int64_t integer;  /* LOG_MS: microseconds */
		double number;
		bool boolean;
	};
};

#define f_text(n, v) ((struct log_field){.type = LOG_TEXT, .name = (n), .text = (v)})
#define f_int(n, v)  ((struct log_field){.type = LOG_INT, .name = (n), .integer = (int64_t)(v)})
/** A duration given in microseconds, written in milliseconds with three digits after the point. */
#define f_ms(n, us)   ((struct log_field){.type = LOG_MS, .name = (n), .integer = (int64_t)(us)})
#define f_float(n, v) ((struct log_field){.type = LOG_FLOAT, .name = (n), .number = (v)})
#define f_bool(n, v)  ((struct log_field){.type = LOG_BOOL, .name = (n), .boolean = (v)})

/** Set the name of the process and the levels (borrows). Call before other threads start.
 * ERR_INVALID: `levels` is not of the form above, or names a group that there is not; nothing has
 * changed. */
enum err_code log_init(const char *process, const char *levels);

/** Write to `descriptor` and not to standard output, for commands that print their result there. */
void log_set_descriptor(int descriptor);

/** Write from a thread of its own from now on, unless the log is a regular file: a reader that does
 * not read its pipe then costs log lines (log_writer.h) and does not stop the process. Lines below
 * LOG_WARN are gathered for LOG_GATHER_MS; a process that is killed loses those that wait. Once. */
void log_start_writer(void);

/** Wait until the reader has taken all lines, but at most a second. Before the process ends. */
void log_flush(void);

bool log_enabled(const char *group, enum log_level level);

/** For a fault that may come with every request: whether `pause_ms` have passed since the last call
 * that returned true. A static variable, initialised to zero. Thread-safe. */
struct log_pause {
	_Atomic uint64_t until_ms; /* monotonic */
};
bool log_is_due(struct log_pause *pause, uint64_t pause_ms);

/** Set the request id of the following lines of this thread; NULL: none. Borrows. An id from
 * log_set_id_source() has priority. */
void log_set_request_id(const char *request_id);

/** Set a function that returns the request id of a line, or NULL. Once, before other threads
 * start. */
void log_set_id_source(const char *(*source)(void));

void log_write(const char *group, enum log_level level, const char *message,
               const struct log_field *fields);

/** One line, if its level is written. The next ones are of the folder's own group. */
#define log_event(group, level, message, ...)                                                 \
	do {                                                                                  \
		if (log_enabled((group), (level)))                                            \
			log_write((group), (level), (message),                                \
			          (struct log_field[]){__VA_ARGS__ __VA_OPT__(, ){LOG_END}}); \
	} while (0)

#define log_debug(message, ...) log_event(LOG_GROUP, LOG_DEBUG, (message)__VA_OPT__(, ) __VA_ARGS__)
#define log_info(message, ...)  log_event(LOG_GROUP, LOG_INFO, (message)__VA_OPT__(, ) __VA_ARGS__)
#define log_warn(message, ...)  log_event(LOG_GROUP, LOG_WARN, (message)__VA_OPT__(, ) __VA_ARGS__)
#define log_error(message, ...) log_event(LOG_GROUP, LOG_ERROR, (message)__VA_OPT__(, ) __VA_ARGS__)

/** Of what a restore undoes and people then repeat by the log (Restore in deploy/OPERATIONS.md): an
 * info that is written whatever LOG_LEVEL says. */
#define log_always(message, ...)                  \
	log_write(LOG_GROUP, LOG_INFO, (message), \
	          (struct log_field[]){__VA_ARGS__ __VA_OPT__(, ){LOG_END}})
