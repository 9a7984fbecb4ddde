/** svc-integrations/notify/digest/: when the digest of an endpoint of messages is due.
 *
 * An endpoint may have a digest at an hour of a time zone, on some days of the week: a row of
 * `endpoint_digest`, with its next date and the time of it. A pass tells the dates that have come,
 * each in one transaction with the next: so a date is told once, whichever processes look and
 * however they end. What is told is the event `digest.due` of the stream `events.code_host`
 * (svc-interests/digest/digest_message.h), whose answer is the message `digest.ready` for the
 * endpoint (notify/message.h). A message is told whatever types the endpoint wants otherwise.
 *
 * Postgres computes the times. A local time that does not exist, as clocks go forward, is the time
 * after the gap; of one that exists twice it is the second. A date that no process could tell for
 * six hours is skipped, and so is one that comes while the endpoint is paused or disabled; its
 * papers are in the next digest. A change of the hour or the zone never tells a date again. */
#pragma once

#include "base/config.h"
#include "input/input.h"
#include "loop/request.h"

/** DIGEST_CHECK. */
extern const struct setting DIGEST_SETTINGS[];
extern int64_t digest_check_ms; /* DIGEST_CHECK */

/** The members of `digest` in the body of an endpoint. */
extern const struct field DIGEST_FIELDS[];

/** Add the faults of the body's `digest` that DIGEST_FIELDS cannot find. Before request_input(). */
void digest_check(struct request *rq);

/** Recurring: tell the dates that have come. */
void digest_pass(struct request *rq);
