/** libcommon/operator/: what an operator sees of the tasks and dead letters of a service, and does
 * with them: internal operations that every service has, for the gateway, and the same for the
 * process itself.
 *
 *     POST /internal/tasks/find       {"status": "failed", "limit": 25}
 *                                     {"total": 1, "items": [{"task_id": ..., "service": ...}]}
 *     POST /internal/tasks/repeat     {"kind": "provision", "drop": false, "dry_run": true}
 *                                     {"matched": 3, "changed": 0}
 *     POST /internal/tasks/summarize  {}
 *                                     {"service": "svc-fleet", "queued": 0, ..., "hours": [...]}
 *
 * A dead event has the shape of a task: its type is the kind, the id of its entry the task_id. */
#pragma once

#include "service/service.h"

#include <stdbool.h>
#include <stdint.h>

#define TASKS_COUNTED_MAX 10000 /* of each service */

/* Of a query: ids, the bytes of one, and characters of a text. */
#define TASK_IDS_MAX  1000
#define TASK_ID_MAX   64
#define TASK_TEXT_MAX 200

/** Which tasks or dead events; a text that is NULL: any. */
struct task_query {
	const char *type; /* of TASK_TYPES; NULL: tasks */
	const char *kind, *status, *account_id;
	const char *error;        /* a part of it, in any case */
	const char *ids;          /* JSON array of texts; only for tasks_repeated() */
	int64_t limit;            /* how many are shown; only for tasks_found() */
	bool is_drop, is_dry_run; /* only for tasks_repeated() */
	const char *by;           /* only for tasks_repeated(): JSON, as of struct dead_letters */
};

extern const char *const TASK_TYPES[];    /* `task`, `event` */
extern const char *const TASK_STATUSES[]; /* `pending`, `running`, ... */

/** Whether it asks for events, and not for tasks. */
bool task_query_is_of_events(const struct task_query *query);

/** The query as the body of the internal operations. In the request's arena. */
const char *task_query_json(struct request *rq, const struct task_query *query);

/** The answers of the three operations for the service of this process, in the request's arena.
 * Suspend; raise as the functions of pg/pg.h and task/dead.h. */
const char *tasks_found(struct request *rq, const struct task_query *query);
const char *tasks_repeated(struct request *rq, const struct task_query *query);
const char *tasks_summary(struct request *rq);

/** How many dead letters a query has matched and changed, in the form of tasks_repeated(). */
const char *task_changes_json(struct request *rq, int64_t matched, int64_t changed);

/** The handlers of the internal operations. */
extern const struct internal_route TASK_OPERATION_ROUTES[];
