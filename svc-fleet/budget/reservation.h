/** Reservations of budgets: what a run may cost is reserved before it starts, and replaced by its
 * spend when it has ended. reservation.fn.sql has the rules; product/agent_start.h is how other
 * services start runs. */
#pragma once

#include "loop/request.h"
#include "product/agent_start.h"

#include <stdint.h>

/** The internal operation run_reserve: {"key", "repo", "interest_id", "agent", "provider", "model",
 * "over_budget", "limits": {"repo", "interest_id"}}, where `limits` are those of the key that asks
 * for the start, to {"allowed", "max_usd", "reservation_id"} or {"allowed", "detail", "budget"}. */
void run_reserve(struct request *rq);

/** The internal operations run_attach, {"key", "run_id"}: a start has become a run; and
 * run_release, {"key"}: it has come to nothing. Both do nothing where nothing is reserved. */
void run_attach(struct request *rq);
void run_release(struct request *rq);

/** The same for svc-fleet's own starts. reservation_make() raises ERR_BUDGET_REACHED. `run_id` is
 * JSON text. */
void reservation_make(struct request *rq, const struct agent_start *start);
void reservation_attach(struct request *rq, const char *key, const char *run_id);
void reservation_release(struct request *rq, const char *key);

/** For a run that asks before its agent begins; `start` has members of the body, which has a
 * `run_id` and `run_attempt`, too. Returns {"allowed", "max_usd", "reservation_id"}; raises
 * ERR_BUDGET_REACHED; ERR_CONFLICT: many runs of the repository have asked and not ended. */
const char *reservation_admit(struct request *rq, const struct agent_start *start);

/** Recurring work: reservations of runs that are not heard of expire. */
void reservations_expire(struct request *rq);
extern const int64_t RESERVATIONS_EVERY_MS;
