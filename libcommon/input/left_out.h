/** Members of a body that were left out because their values do not fit: those of rows that are
 * FORGIVEN (input.h). What else the body says is taken, and the answer names them:
 *
 *     {"run_id": 17, ..., "ignored": ["input_tokens"]}
 */
#pragma once

#include "json/problem.h"
#include "loop/request.h"

#include <stdbool.h>

/** Leave a member out, whose faults are `found`. Borrows the name; for input.c. */
void left_out_add(struct request *rq, const char *name, const struct problem *found);

/** Whether request_input() has left the member out. */
bool left_out_has(const struct request *rq, const char *name);

/** Add the faults of all that was left out to the request's, which is refused. */
void left_out_blame(struct request *rq);

/** The JSON object with the member `ignored`, an array of the names; the object itself when nothing
 * was left out. In the arena. */
const char *left_out_shown(struct request *rq, const char *json);
