/** LISTEN for the channels of a pool, on a separate connection. Internal to this folder. */
#pragma once

#include "pg/pg.h"
#include "pg/target.h"

struct pg_listener;

/** Make a listener; it connects when the first channel is added. Borrows the target.
 * `freed(context)` is called when its handles are closed after pg_listener_free(). */
struct pg_listener *pg_listener_new(uv_loop_t *loop, const struct pg_target *target,
                                    uint64_t connect_timeout_ms, void (*freed)(void *context),
                                    void *context);

/** Close and free. NULL is fine. */
void pg_listener_free(struct pg_listener *listener);

/** As pg_listen(). */
void pg_listener_add(struct pg_listener *listener, const char *name, pg_listen_cb *cb,
                     void *context);
