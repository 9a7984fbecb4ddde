/** What became of recommendations: how many of the last days were liked, by the bounds of their
 * scores. */
#pragma once

#include "loop/request.h"

/** GET /papers/recommended/funnel: counts begin no earlier than retention_since(). */
void funnel_get(struct request *rq);
