/** svc-experiments/ticket/: the ticket of an experiment, `external_ticket_id` at the tracker
 * `ticket_source`, read and commented through svc-integrations, with the account's connection.
 *
 * A ticket is read when somebody asks for it, at most every ten minutes. Who reads it claims that
 * for a minute, in which others get what was read before; so a process that dies meanwhile, and a
 * tracker that does not answer, cost a minute. */
#pragma once

#include "loop/request.h"

/** GET /experiments/{experiment_id}/ticket */
void ticket_get(struct request *rq);

/** POST /experiments/{experiment_id}/ticket-comment: post the decision, once however often it is
 * asked for. */
void ticket_comment(struct request *rq);
