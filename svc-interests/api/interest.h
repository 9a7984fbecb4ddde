/** Interests: what papers are recommended for. A new one, and one whose name or context changes,
 * queues the job that builds its pool (pool.h). */
#pragma once

#include "loop/request.h"

void interest_list(struct request *rq);
void interest_create(struct request *rq);
void interest_get(struct request *rq);
void interest_update(struct request *rq);
void interest_delete(struct request *rq);
void interest_toggle(struct request *rq);
