/** Routes of recommended papers: list, digest, feedback, explanation, and starting a refresh
 * (refresh.h runs it). */
#pragma once

#include "loop/request.h"

void recommendation_list(struct request *rq);
void recommendation_digest(struct request *rq);
void recommendation_feedback(struct request *rq);
void recommendation_feedback_delete(struct request *rq);
void recommendation_explanation(struct request *rq);
void recommendation_refresh(struct request *rq);
void refresh_task_get(struct request *rq);
