/** Preference models, by the experiment history of their interest: ranking candidates, learning
 * from feedback. */
#pragma once

#include "loop/request.h"
#include "task/task.h"

void history_score(struct request *rq);
void history_refit(struct request *rq);
void refit_task_get(struct request *rq);

/** Job `preference_model_refit`, {"interest_id", "history_id"}. With too little feedback the model
 * that was there stays.
 *
 *     {"model_version": 2, "examples": 46, "positives": 18, "auc": 0.83} */
void refit_run(struct request *rq, struct task *task);
