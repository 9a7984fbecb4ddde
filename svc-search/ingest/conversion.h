/** Converts the texts of papers that were stored by an older version of plain/plain_text.h, in the
 * background and some at a time, so that an upgrade need not wait for it. Replicas share the work;
 * the index follows as it follows every change. */
#pragma once

#include "loop/worker.h"

struct conversion;

struct conversion *conversion_start(struct worker *worker);

/** Accepts NULL. */
void conversion_stop(struct conversion *conversion);
