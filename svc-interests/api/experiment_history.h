/** Routes below /experiment-histories: score candidates with the preference model of an interest, and
 * refit the model to feedback. An interest is addressed by its experiment history. */
#pragma once

#include "loop/request.h"
#include "task/task.h"

void candidates_score(struct request *rq);
void preference_model_refit(struct request *rq);
void refit_task_get(struct request *rq);

/** Job `preference_model_refit`, {"interest_id", "history_id"}: fit a model to the feedback. With too
 * little feedback the model is unchanged. Result of the task:
 *
 *     {"model_version": 2, "examples": 46, "positives": 18, "auc": 0.83} */
void refit_run(struct request *rq, struct task *task);
