/** The coding agents, and the model providers that each of them can use, as the setting
 * AGENT_PROVIDERS lists them:
 *
 *     AGENT_PROVIDERS='agent_one=anthropic,moonshot; agent_two=openai,custom'
 *
 * An agent's first provider is the one that it uses when none is named. Spaces do not count. */
#pragma once

#include "base/config.h"
#include "loop/request.h"

/** Longest name of an agent or a provider, in characters. */
#define AGENT_NAME_MAX 64

#define AGENTS_MAX          16
#define AGENT_PROVIDERS_MAX 16

struct agent {
	const char *name;
	const char *providers[AGENT_PROVIDERS_MAX + 1]; /* NULL-terminated, never empty */
};

/** AGENT_PROVIDERS. */
extern const struct setting AGENT_SETTINGS[];

/** Read the setting; for service.settings_check. ERR_INVALID: it has another form, which is
 * printed. */
enum err_code agents_init(void);

/** Read a text of that form into `agents`; in `arena`. The entry after the last has no name.
 * ERR_INVALID: `ret_fault` says what is wrong, in static memory. */
enum err_code agents_parse(struct arena *arena, const char *text,
                           struct agent agents[AGENTS_MAX + 1], const char **ret_fault);

/** The agents of the setting; the entry after the last has no name. In static memory. */
const struct agent *agents_list(void);

struct agent_pair {
	const char *agent, *provider;
};

/** The `check` of an input row: there is an agent of that name; an agent can use that provider. */
bool agent_name_check(const char *text, size_t length, const char **ret_message);
bool agent_provider_check(const char *text, size_t length, const char **ret_message);

/** Whether there is an agent of that name, and it can use the provider. */
bool agent_can_use(const char *agent, const char *provider);

/** Add the fault of a provider that the agent cannot use, when there are both (NULL: not named).
 * Before request_input(), whose rows have the checks above. */
void agent_pair_check(struct request *rq, const char *agent, const char *provider);

/** The agent and the provider to use for those that a request names. Without an agent (NULL) it is
 * the first that can use the provider; without a provider the agent's first. In static memory.
 * Raises ERR_INVALID, naming the field `agent` or `provider`: there is none of that name, or the
 * agent cannot use the provider. */
struct agent_pair agent_pair_choose(struct request *rq, const char *agent, const char *provider);
