/** The views of the commands' answers. */
#pragma once

#include "show/view.h"

extern const struct view VIEW_DIGEST, VIEW_RECOMMENDATIONS, VIEW_PAPERS, VIEW_PAPER,
	VIEW_EXPLANATION;
extern const struct view VIEW_INTERESTS, VIEW_INTEREST, VIEW_TASK, VIEW_PROVISIONING;
extern const struct view VIEW_RUNS, VIEW_RUN_STARTED, VIEW_RUN_STATUS, VIEW_AGENTS, VIEW_INBOX,
	VIEW_REPORT;
extern const struct view VIEW_EXPERIMENTS, VIEW_EXPERIMENT, VIEW_RESULTS, VIEW_CONTEXT,
	VIEW_PIPELINE;
extern const struct view VIEW_TEMPLATES, VIEW_EVAL_RUNS, VIEW_EVAL_RUN, VIEW_BUILD;
extern const struct view VIEW_KEYS, VIEW_KEY_CREATED;
