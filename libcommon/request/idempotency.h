/** Idempotency-Key: a repeated request gets the first answer again instead of a second effect.
 * Handlers need no code for it; http_request.c calls these functions for operations marked CREATES
 * in api.def.
 *
 * A request repeats another one when it has the same Idempotency-Key, API key, operation, path and
 * body, and comes within 24 hours. Records belong to an API key, not to an account: another key of
 * the account may have fewer scopes and must not get the first key's answer.
 *
 * The handler runs inside a transaction that also stores its answer, so both are committed or
 * neither.
 *
 * A handler of an operation marked CALLS_OUT waits for other services, which no transaction may
 * do. So the key is reserved, the handler runs without a transaction, and the answer is stored at
 * the end. A handler that leaves a transaction open has it committed together with its answer. When
 * the request fails, the reservation is given up before the problem is sent. When its process dies,
 * a repetition is answered 409 until the reservation ends, which is soon after the request's
 * deadline; then it runs the handler again. So the handler must converge: what a part of it has
 * done at the outside service is found, not done twice.
 *
 * An answer is stored whole, because its repetition is the same byte for byte, also when what it
 * tells of has changed since. COMPRESS_ANSWERS compresses it before it is encrypted. The length
 * then depends on the content, which tells nothing of a secret, as no secret is in two answers.
 *
 * Of answers over 64 KiB an account has 32 MiB in each schema. One that would exceed it is not
 * kept, and a repetition is answered 409. One of an operation marked CONVERGES is never kept: its
 * handler runs again, and changes nothing more.
 *
 * Stored answers are encrypted, because they may contain a secret that is shown once, such as a new
 * API key: the Idempotency-Key, which is not stored, opens them (held_secret.h).
 */
#pragma once

#include "loop/request.h"

#include <stdbool.h>

/** Call before the handler of a request that has the field Idempotency-Key. Opens the transaction,
 * or reserves the key. Returns true when the stored answer has been replied; the handler must not
 * run then.
 *
 * Raises ERR_INVALID: the key is not 1 to 255 visible ASCII characters, or is given twice;
 * ERR_IN_PROGRESS: the first request still runs, or its reservation does; ERR_IDEMPOTENCY_REUSED:
 * the key was used with another path or body; ERR_CONFLICT: the stored answer cannot be decrypted
 * because its secret is no longer in SEAL_SECRETS. */
bool idempotency_begin(struct request *rq);

/** Call after the handler has replied. Stores the answer and commits. Rolls back when the answer is
 * a failure (status 400 and above), so that the client can try again with the same key.
 *
 * Raises ERR_UNCERTAIN: the request took so long that a repetition has taken over its reservation;
 * nothing of the transaction is kept. */
void idempotency_finish(struct request *rq);

/** Open a transaction that is committed together with the stored answer, if the request of an
 * operation marked CALLS_OUT has one to store; otherwise nothing. For a handler that has asked what
 * it must know, and whose statement needs no transaction by itself. */
void idempotency_join(struct request *rq);

/** The reservation that a request holds; in its arena. NULL: none. */
struct reservation;

/** Give up the request's reservation, which is not NULL. For a fiber of its own, after the
 * handler's has ended. */
void idempotency_release(struct request *rq);
