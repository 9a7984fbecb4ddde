/** Idempotency-Key: the same key, caller and body within 24 hours give the first answer again. The
 * caller is an API key: another one of the account starts afresh, so that it never gets what only
 * the first may have been given.
 *
 * The handler runs inside a transaction that also keeps its answer, so effect and record are one,
 * whatever is killed. Stored answers are sealed: they may hold what is shown once, such as a new
 * key.
 */
#pragma once

#include "loop/request.h"

#include <stdbool.h>

/** Before the handler of an API_CREATES operation whose request carries Idempotency-Key. Opens the
 * transaction. Returns true when the first answer was replied and the handler must not run.
 *
 * Raises ERR_INVALID: not 1 to 255 visible ASCII characters; ERR_IN_PROGRESS: the first one is
 * still running; ERR_IDEMPOTENCY_REUSED: the key came with another body. */
bool idempotency_begin(struct request *rq);

/** After the handler has replied: keep the answer and commit, or roll back where the answer is a
 * failure (400 and above), which may be asked for again. */
void idempotency_finish(struct request *rq);
