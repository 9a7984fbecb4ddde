/** The context of an implementation: the experiment, its paper, the paper's container and the brief, as
 * `GET /implement/experiments/{experiment_id}/context` replies it. */
#pragma once

#include "loop/request.h"
#include "paper.h"

/** The experiment as the database knows it. */
struct context_source {
	const char *detail_json; /* the member `experiment` of the reply, copied as it is */
	/* `id`, `name`, `hypothesis`, `target_metric`, `launch_context`, `papers` */
	yyjson_val *facts;
};

/** Build the body of the reply, in the arena. `paper` is all zero when the experiment names no paper.
 * Details of the paper come from the search index; those that it does not have come from the launch
 * context. */
yyjson_mut_doc *context_build(struct arena *arena, const struct context_source *source,
                              const struct paper *paper);
