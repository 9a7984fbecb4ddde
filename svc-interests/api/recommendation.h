/** Routes of recommended papers: list, feedback, explanation, and starting a refresh
 * (refresh.h runs it). */
#pragma once

#include "loop/request.h"

/** The values of the parameters `period`, whose default is the first, and `source_type`. */
extern const char *const RECOMMENDATION_PERIODS[], *const RECOMMENDATION_SOURCES[];

void recommendation_list(struct request *rq);
void recommendation_feedback(struct request *rq);
void recommendation_feedback_delete(struct request *rq);
void recommendation_explanation(struct request *rq);
void recommendation_refresh(struct request *rq);
void refresh_task_get(struct request *rq);
