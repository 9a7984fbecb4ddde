/** Work that takes long or blocks, on libuv's pool, away from the loop. */
#pragma once

#include "loop/request.h"

/** Run `work(arg)` on the pool and suspend until it has run; `arg` may live in the request's arena.
 * The pool's thread holds `arg`, so a cancellation does not end the wait: it is raised once the
 * work has ended. The work must not touch the request or anything of the loop. */
void request_offload(struct request *rq, void (*work)(void *arg), void *arg);
