/** Projects: groups of experiments. */
#pragma once

#include "loop/request.h"

/** Handlers of the operations projects_list, project_create and so on. */
void project_list(struct request *rq);
void project_create(struct request *rq);
void project_get(struct request *rq);
void project_update(struct request *rq);
void project_delete(struct request *rq);
