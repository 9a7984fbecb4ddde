/** Recommended papers: the list, the digest, feedback on them, and asking for new ones (refresh.h
 * makes them). */
#pragma once

#include "loop/request.h"

void recommendation_list(struct request *rq);
void recommendation_digest(struct request *rq);
void recommendation_feedback(struct request *rq);
void recommendation_refresh(struct request *rq);
void refresh_task_get(struct request *rq);
