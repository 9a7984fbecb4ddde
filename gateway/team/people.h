/** Who the persons are whom rows of the services name by an id: their own, or that of the personal
 * key with which they acted. */
#pragma once

#include "loop/request.h"

/** GET /team/people?ids= */
void people_list(struct request *rq);

/** The same for a service: {"ids"}. */
void people_find(struct request *rq);
