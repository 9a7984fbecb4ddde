/** Routes below /experiment-histories: score candidates with the preference model of an interest,
 * and refit the model to feedback (refit.h). An interest is addressed by its experiment history. */
#pragma once

#include "loop/request.h"

void candidates_score(struct request *rq);
void preference_model_refit(struct request *rq);
void refit_task_get(struct request *rq);
