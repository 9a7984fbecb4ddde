/** Runs hiredis's asynchronous context on a libuv loop.
 *
 * It replaces the adapter that hiredis ships, which ignores poll errors, so that a refused
 * connection is never noticed.
 */
#pragma once

#include "base/base.h"
#include "base/error.h"

#include <hiredis/async.h>
#include <uv.h>

/** The context is about to be freed; its errstr can still be read. Every command in flight has had
 * its callback with a NULL reply. */
typedef void redis_uv_end_cb(void *arg, const redisAsyncContext *context);

/** Watch the context's socket on `loop`. `on_end(arg, context)` is called once, when the context
 * ends. ERR_UNAVAILABLE: the socket cannot be watched. */
enum err_code redis_uv_attach(redisAsyncContext *context, uv_loop_t *loop, redis_uv_end_cb *on_end,
                              void *arg) attr_must_use;
