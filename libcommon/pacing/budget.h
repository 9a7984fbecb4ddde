/** Budgets: memory that the requests of a process share, such as that of all bodies.
 *
 * An account may occupy a quarter of a budget (at least 9 MiB, so that its largest body fits), or
 * as much as it likes in one piece while it occupies nothing else. So one account can use up its
 * share, and not make the process refuse the requests of others.
 */
#pragma once

#include "base/error.h"
#include "crypto/uuid.h"
#include "observe/metrics.h"

#include <pthread.h>
#include <stddef.h>

struct budget_owner;

struct budget {
	struct metric *used;    /* a gauge, in bytes */
	struct metric *refused; /* a counter; its label says what is used up: `all`, `share` */
	size_t limit_bytes;     /* 0: there is no limit */
	size_t used_bytes;
	pthread_mutex_t lock;
	struct budget_owner *owners; /* uthash, by account */
};

/** Declare a budget of the file with the names of its metrics and their help. */
#define BUDGET(variable, used_name, used_help, refused_name, refused_help)        \
	METRIC_GAUGE(variable##_used, used_name, used_help);                      \
	METRIC_COUNTER(variable##_refused, refused_name, refused_help, "reason"); \
	static struct budget variable = {.used = &variable##_used,                \
	                                 .refused = &variable##_refused,          \
	                                 .lock = PTHREAD_MUTEX_INITIALIZER}

/** Once, before other threads start. */
void budget_set_limit(struct budget *budget, size_t limit_bytes);

/** Take `bytes` for `account`; the nil UUID: for no account, and of no share. Any thread.
 * ERR_UNAVAILABLE: the budget is used up; ERR_RATE_LIMITED: the share of the account is. */
enum err_code budget_take(struct budget *budget, const struct uuid *account,
                          size_t bytes) attr_must_use;

/** As budget_take(), for a piece that occupies `held_bytes` of the account already and grows. */
enum err_code budget_take_more(struct budget *budget, const struct uuid *account, size_t held_bytes,
                               size_t bytes) attr_must_use;

/** As budget_take(), also when that exceeds the limits. */
void budget_take_anyway(struct budget *budget, const struct uuid *account, size_t bytes);

/** Give back what was taken. */
void budget_give(struct budget *budget, const struct uuid *account, size_t bytes);

size_t budget_used_bytes(struct budget *budget);
