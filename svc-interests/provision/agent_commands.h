/** How a run installs and starts each agent, and in which variable the agent reads the key of its
 * model's provider:
 *
 *     AGENT_COMMANDS='{"agent_one": {"preset": "claude_code"},
 *                      "agent_two": {"preset": "codex", "install": "npm install -g @acme/codex"},
 *                      "agent_three": {"install": "pip install acme", "run": "acme-agent <\"$BRIEF\"",
 *                                      "credential": {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}}}'
 *
 * The members are those of the preset (preset.h), where one is named, and then those that the entry
 * has itself. Those that neither has: `install` is `true`, `run` is `"$AGENT" "$BRIEF"`, and
 * `credential` MODEL_KEY for every provider. `obeys_max_usd` says that the agent stops at the cost
 * in $MAX_USD.
 *
 * A pair of agent and provider is possible when AGENT_PROVIDERS lists it and the agent's entry has
 * a credential for it. An agent without an entry can do nothing. */
#pragma once

#include "base/arena.h"
#include "base/config.h"
#include "loop/request.h"
#include "product/agent_pair.h"

#include <yyjson.h>

/** AGENT_COMMANDS. */
extern const struct setting COMMAND_SETTINGS[];

/** Read the setting, after agents_init(); for service.settings_check. ERR_INVALID: what is wrong
 * was printed. */
enum err_code agent_commands_init(void);

/** Read a text of that form; the value, in which each entry has the members of its preset, is in
 * `arena`. ERR_INVALID: `ret_fault` says what is wrong, in `arena`. */
enum err_code agent_commands_parse(struct arena *arena, const char *text, yyjson_val **ret_commands,
                                   const char **ret_fault);

/** Whether the agent's entry has a credential for the provider. */
bool agent_commands_have(struct agent_pair pair);

/** The internal operation agent_pair_get: of {"agent", "provider"}, {"is_possible",
 * "obeys_max_usd"}. */
void agent_pair_get(struct request *rq);

/** All agents that have an entry with their commands, as the workflow reads them, `run` line by
 * line; in `arena`:
 *
 *     {
 *       "agent_one": {
 *         "install": "true",
 *         "credentials": {"anthropic": "MODEL_KEY"},
 *         "run": [
 *           "\"$AGENT\" \"$BRIEF\""
 *         ]
 *       }
 *     } */
const char *agent_commands_json(struct arena *arena);
