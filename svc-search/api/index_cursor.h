/** A cursor names a state of the index: "DATABASE/EMBEDDER/CHANGE", the id of the database, the
 * version of the embedder, and the number up to which the state includes every change. Who kept an
 * answer asks with its cursor for what has changed since. It means the same to every replica, since
 * all take the numbers from Postgres, and the same after a restart or a merge. One of another
 * database or embedder means nothing: their numbers, or their scores, are others. */
#pragma once

#include "engine/engine.h"
#include "loop/request.h"

/** The cursor of the view; NULL: its index is empty. In the arena of `rq`. */
const char *index_cursor_write(struct request *rq, const struct engine_view *view);

/** The number in the cursor, above 0; 0: it means nothing to this view. */
uint64_t index_cursor_read(struct request *rq, const struct engine_view *view, const char *cursor);
