/** svc-fleet/chat/: answers to questions about the agents of one repository.
 *
 *     chat.c            the operation, and the prompt
 *     chat_records.c    what an answer may be made of: records of the caller, read for every turn
 *     citation.c        which run and member of it a statement rests on
 *     composed_reply.c  the answer without a language model, by rules
 *
 * A turn has no memory and no privileges: what is read is decided by the caller, `repo` and
 * `focus_run_id` alone. The messages are only quoted to the model (wording/wording.h) or searched
 * for words. */
#pragma once

#include "loop/request.h"

/** POST /fleet/agents/chat */
void fleet_chat(struct request *rq);
