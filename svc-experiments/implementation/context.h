/** The context of an implementation: the experiment, its paper, the paper's container and the
 * brief, as `GET /implement/experiments/{experiment_id}/context` replies it. */
#pragma once

#include "implementation/paper.h"
#include "loop/request.h"

/** The experiment, read from the database. */
struct context_source {
	const char *detail_json; /* becomes the member `experiment` of the reply, unchanged */
	/* `id`, `name`, `hypothesis`, `target_metric`, `launch_context`, `papers` */
	yyjson_val *experiment;
};

/** Build the body of the reply, in the arena. `paper` is all zero when the experiment names no
 * paper. Details of the paper come from the search index, or from the launch context if the index
 * does not have them. */
yyjson_mut_doc *context_build(struct arena *arena, const struct context_source *source,
                              const struct paper *paper);

/** The brief alone, for an agent that a workflow starts. In the arena. */
const char *context_brief(struct arena *arena, const struct context_source *source,
                          const struct paper *paper);
