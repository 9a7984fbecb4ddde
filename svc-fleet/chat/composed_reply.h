/** The answer to a question without a language model: sentences made from the records. Pure logic.
 *
 * Words of the question choose the subjects that are spoken of (state, last run, failures, cost,
 * pull requests, findings); without a known word all are. A run in focus always comes first. */
#pragma once

#include "chat/chat_records.h"
#include "chat/citation.h"

/** Compose the answer, in the arena of `citations`, and cite what it rests on. */
const char *composed_reply(const struct chat_records *records, const char *question,
                           struct citations *citations);
