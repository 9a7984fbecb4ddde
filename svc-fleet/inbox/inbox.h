/** svc-fleet/inbox/: what waits for somebody. The items are derived by rules (inbox_items() in
 * inbox.fn.sql); only which of them an account has archived is stored. */
#pragma once

#include "loop/request.h"

/** GET /fleet/agents/inbox */
void inbox_list(struct request *rq);

/** POST /fleet/agents/inbox/dismiss: archive items, or with `undo` bring them back. */
void inbox_dismiss(struct request *rq);
