/** Operations that reply in one of several media types, as the client prefers. */
#pragma once

#include "loop/request.h"

#include <stddef.h>

/** The number of the media type, of those at `types` up to NULL, that the request's Accept prefers;
 * the first without one. Adds Vary to the reply. Raises ERR_NOT_ACCEPTABLE, which names them. */
size_t reply_choose(struct request *rq, const char *const *types);

/** For operations whose reply is JSON (0) or CSV (1). */
extern const char *const JSON_OR_CSV[];
