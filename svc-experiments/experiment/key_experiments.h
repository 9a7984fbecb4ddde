/** Which experiments are those of a limited key (input/key_limit.h):
 *
 * - with the key's repository as their target
 * - without a target, in the project of the key's interest
 * - of a key that is limited to an interest alone: all in the project of that
 *
 * Another repository is refused with ERR_FORBIDDEN; all else does not exist for the key. The
 * project of an interest is asked of svc-interests, so the functions suspend and raise as
 * service_ask(). */
#pragma once

#include "loop/request.h"

/** The project of the interest that the key is limited to; NULL: there is none. */
const char *key_project(struct request *rq);

/** Require that the experiment is the key's. One that does not exist is left to the operation
 * itself. */
void key_require_experiment(struct request *rq, const char *id);

/** As key_require_experiment(), before a change: opens a transaction, committed with the answer, in
 * which nobody else changes whose the experiment is. Raises also ERR_CONTENTION: it changed
 * meanwhile. For other keys it does nothing. */
void key_hold_experiment(struct request *rq, const char *id);

/** As key_hold_experiment(), and require that the experiment of the body is the key's once it is
 * stored, and changes to no other project. `id` NULL: it is created. */
void key_require_change(struct request *rq, const char *id);

/** POST /internal/experiments/access: whether the key that is limited to `repo` and `interest_id`
 * may name the experiment; answers its id. */
void key_experiment_access(struct request *rq);
