/** Turns at sources of papers for other services. */
#pragma once

#include "loop/request.h"

/** POST /internal/sources/turn: {"source": "arxiv", "wait_max_ms": 8000} takes the next turn to ask
 * the source among all processes, and answers {"wait_ms": 2400} when it has come, which is when the
 * caller may send one request to the source. 503: it would come later than after `wait_max_ms`, and
 * was not taken. */
void source_turn(struct request *rq);
