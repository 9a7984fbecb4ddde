/** The context of an implementation: what is known of an experiment and its paper, as the API
 * answers it. */
#pragma once

#include "loop/request.h"
#include "paper.h"

/** What the database tells of the experiment. */
struct context_source {
	const char *detail_json; /* the experiment in full, passed on as it is */
	/* `id`, `name`, `hypothesis`, `target_metric`, `launch_context`, `papers` */
	yyjson_val *facts;
};

/** The body of the answer. `paper` is all zero where the experiment names none. What the launch
 * context says of the paper stands in where the index does not. */
yyjson_mut_doc *context_build(struct arena *arena, const struct context_source *source,
                              const struct paper *paper);
