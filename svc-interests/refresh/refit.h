/** Fits the preference model of an interest, and keeps the vectors of its papers comparable.
 *
 * svc-search names with each answer the version of the embedder that made its vectors. Vectors of
 * two versions do not compare. So an interest uses one version, which it names (interest.embedder)
 * and its model too: `paper_vector` has the vectors of its papers by that version. When svc-search
 * names another version, the interest goes over to it as a whole: the vectors of all its papers are
 * read, the model is refitted to them, and then interest and model name the new version. Until then
 * they go on with the old one, whose vectors are kept as long as anything names it.
 *
 * A refresh goes over before it recommends (refit_follow()), a refit always, and all other
 * interests in the background (refit_others()). */
#pragma once

#include "base/config.h"
#include "loop/request.h"
#include "task/task.h"

/** EMBEDDER_CHECK. */
extern const struct setting REFIT_SETTINGS[];

extern int64_t refit_check_ms;

/** Job `preference_model_refit`, {"interest_id", "history_id"}: fit a model to the feedback. With
 * too little feedback the model is unchanged. With "is_follow": true nothing is done for an
 * interest that uses the current version already. Result of the task:
 *
 *     {"model_version": 2, "examples": 46, "positives": 18, "auc": 0.83} */
void refit_run(struct request *rq, struct task *task);

/** Let the interest go over to the version of its new pool, if it uses another. Suspends. Raises as
 * pool_lookup(). */
void refit_follow(struct request *rq, const char *interest);

/** Recurring: queue refits of interests that do not use the current version, and remove vectors of
 * versions that nothing names. */
void refit_others(struct request *rq);
