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

/** The secret in which it finds the key of a model's provider: `EXPOPS_MODEL_KEY_OPENAI`. Of each
 * provider one, so that a run can use another than the last that was provisioned. */
const char *agent_model_secret(struct arena *arena, const char *provider);
