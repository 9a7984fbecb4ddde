#include "product/agent_workflow.h"

#include <ctype.h>

const char *agent_workflow;

const struct setting AGENT_WORKFLOW_SETTINGS[] = {
	SETTING_TEXT(&agent_workflow, "AGENT_WORKFLOW", "expops.yml",
                     "File name of the agents' workflow in .github/workflows; other workflows are "
                     "no runs."),
	SETTING_END,
};

const char *agent_workflow_path(struct arena *arena)
{
	return arena_printf(arena, ".github/workflows/%s", agent_workflow);
}

const char *agent_model_secret(struct arena *arena, const char *provider)
{
	char *name = arena_printf(arena, "EXPOPS_MODEL_KEY_%s", provider);
	for (char *at = name; *at; at++)
		*at = *at == '-' ? '_' : (char)toupper((unsigned char)*at);
	return name;
}
