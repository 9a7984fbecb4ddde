/** gateway/usage/: what each key was used for.
 *
 *     usage_table.c  counts of requests, in memory
 *     key_usage.c    counting, storing each minute, and GET /account/api-keys/{key_id}/usage
 *
 * Each worker counts in a table of its own and adds it to the database once in KEY_USAGE_STORE, and
 * when it ends. So all workers and replicas add up, and a process that is killed loses what it
 * counted since. A store whose outcome is not known is not repeated: rather a minute is missing
 * than counted twice.
 *
 * Words used here:
 *   family  of operations: those that need one scope, by its name; `mcp`: the agent-tool
 *           protocol */
#pragma once

#include "base/config.h"
#include "crypto/identity.h"
#include "http/api.h"
#include "loop/request.h"

struct key_usage;
struct worker;

/** KEY_USAGE_STORE. */
extern const struct setting KEY_USAGE_SETTINGS[];

/** The counter of a worker, on its thread. Borrows. */
struct key_usage *key_usage_new(struct worker *worker);

/** Store what was counted, and then no more: in a request of the worker. */
void key_usage_end(struct key_usage *usage);

/** Free, once no request runs. Accepts NULL. */
void key_usage_free(struct key_usage *usage);

/** Count a request that has ended with `status`. Nothing happens when `usage` is NULL. */
void key_usage_count(struct key_usage *usage, const struct identity *caller,
                     const struct api_op *op, int status);

/** GET /account/api-keys/{key_id}/usage */
void key_usage_list(struct request *rq);

/** Recurring work: delete the counts of days that are not kept any more. */
void key_usage_forget(struct request *rq);
extern const int64_t KEY_USAGE_FORGET_EVERY_MS;
