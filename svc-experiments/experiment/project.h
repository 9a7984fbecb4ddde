/** Projects: groups of experiments. */
#pragma once

#include "loop/request.h"

/** Handlers of the operations projects_list, project_create and so on. */
void project_list(struct request *rq);
void project_create(struct request *rq);
void project_get(struct request *rq);
void project_update(struct request *rq);
void project_delete(struct request *rq);

/** What a project is about:
 *
 *     POST /internal/projects/outline  {"project_id"}
 *     {"name": "Search",
 *      "outline": "Late interaction. Scores rise with token vectors. Measured by nDCG\n\n…"}
 *
 * `outline` has a paragraph of 1,000 characters at most for each of its newest 30 experiments; what
 * became of them is left out. null: it has none. Raises ERR_NOT_FOUND. */
void project_outline_get(struct request *rq);
