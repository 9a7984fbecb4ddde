/** Projects: groups of experiments. */
#pragma once

#include "task/task.h"

/** Handlers of the operations projects_list, project_create and so on. */
void project_list(struct request *rq);
void project_create(struct request *rq);
void project_get(struct request *rq);
void project_update(struct request *rq);
void project_delete(struct request *rq);

/** Job `project_detach`, with {"project_id", "by_key"}: the experiments of a deleted project that
 * its deletion has left belong to none, some at a time. A project may have as many as an
 * account. */
void project_detach(struct request *rq, struct task *task);

/** What a project is about:
 *
 *     POST /internal/projects/outline  {"project_id"}
 *     {"name": "Search",
 *      "outline": "Late interaction. Scores rise with token vectors. Measured by nDCG\n\n…"}
 *
 * `outline` has a paragraph of 1,000 characters at most for each of its newest 30 experiments; what
 * became of them is left out. null: it has none. Raises ERR_NOT_FOUND. */
void project_outline_get(struct request *rq);
