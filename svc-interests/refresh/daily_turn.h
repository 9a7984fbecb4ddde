/** Turns of the daily run's interests. Nobody waits for one of them, as somebody does for a
 * request: a process refreshes only so many at the same time as leave a processor free, others wait
 * in the order of asking. One that waits uses no processor of svc-search and of Postgres either,
 * and each turn keeps one of them busy at a time. A refresh that a user asked for takes no turn. */
#pragma once

#include "loop/request.h"

/** Turns of a process at the same time: one fewer than cpu_count(), at least 1. */
int daily_turns(void);

/** Wait for a turn, and keep it until the arena of `rq` is freed. Only on the background worker,
 * whose loop has all turns of the process. Raises when the request is cancelled. */
void daily_turn_take(struct request *rq);
