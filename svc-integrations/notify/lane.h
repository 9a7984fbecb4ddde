/** Lanes: the first attempts of an endpoint, or those after a failure, made one after the other by
 * the process that has claimed the lane.
 *
 *     claimed --begin--> attempt --note, begin the next--> attempt ... --nothing is due--> released
 *
 * How an attempt ended and the beginning of the next one are one statement (lane_step()). A
 * process that dies in between leaves the delivery as it was before the attempt: when the claim
 * has ended, another process makes the attempt again, with the same id. A lane is given back after
 * a while, so that others get their turn. */
#pragma once

#include "crypto/uuid.h"
#include "loop/request.h"

/** How long a claim lasts unless the lane's attempts go on. Longer than an attempt. */
#define LANE_CLAIM_S 60

struct lane {
	char endpoint[UUID_TEXT_LEN + 1];
	bool is_retry; /* of attempts after a failure */
	int64_t claim;
	const bool *is_stopping; /* the process begins no further attempt */
};

/** Make the attempts of a claimed lane, rq->user. A request of its own, without a deadline of its
 * attempts beyond LANE_TIMEOUT_MS. */
void lane_run(struct request *rq);
#define LANE_TIMEOUT_MS 120000
