/** The workflow of the agents: one file, of the same name in every repository that they work on. */
#pragma once

#include "base/arena.h"
#include "base/config.h"

/** AGENT_WORKFLOW. */
extern const struct setting AGENT_WORKFLOW_SETTINGS[];

/** Its file name in `.github/workflows`; other workflows of a repository are no runs of agents. */
extern const char *agent_workflow;

/** Its path in a repository. */
const char *agent_workflow_path(struct arena *arena);
