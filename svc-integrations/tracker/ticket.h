/** Tickets for the other services, as internal operations.
 *
 *     POST /internal/tickets/get
 *     {"source": "tracker_a", "ticket": "ENG-42", "url"?: "https://…"}
 *     {"title": "Try late interaction", "state": "In Progress",
 *      "url": "https://linear.app/acme/issue/ENG-42"}
 *
 *     POST /internal/tickets/comment
 *     {"source", "ticket", "url"?, "text": "Decision: …"}
 *     {"created": true}
 *
 * `url` is where the ticket is seen: it must be at the site or in the workspace that the account is
 * connected to, and is needed where there are several sites. A comment ends with a mark made of its
 * text: one of the newest 50 comments that has it is the same, and is not made again. */
#pragma once

#include "loop/request.h"

void ticket_facts_get(struct request *rq);
void ticket_comment_put(struct request *rq);
