/** How a run installs and starts each agent, and in which variable the agent reads the key of its
 * model's provider:
 *
 *     AGENT_COMMANDS='{"agent_one": {"install": "npm install -g @acme/agent", "run": "acme-agent --task \"$BRIEF\"",
 *                                    "credential": "ANTHROPIC_API_KEY"},
 *                      "agent_three": {"credential": {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}}}'
 *
 * All members may be left out: `install` is then `true`, `run` is `"$AGENT" "$BRIEF"`, and the
 * variable is MODEL_KEY. */
#pragma once

#include "base/arena.h"
#include "base/config.h"

#include <yyjson.h>

/** AGENT_COMMANDS. */
extern const struct setting COMMAND_SETTINGS[];

/** Read the setting, after agents_init(); for service.settings_check. ERR_INVALID: what is wrong
 * was printed. */
enum err_code agent_commands_init(void);

/** Read a text of that form; the value is in `arena`. ERR_INVALID: `ret_fault` says what is wrong,
 * in `arena`. */
enum err_code agent_commands_parse(struct arena *arena, const char *text, yyjson_val **ret_commands,
                                   const char **ret_fault);

/** All agents of AGENT_PROVIDERS with their commands, as the workflow reads them, one in each line;
 * in `arena`:
 *
 *     {"agent_one": {"install": "true", "run": "\"$AGENT\" \"$BRIEF\"", "credentials": {"anthropic": "MODEL_KEY"}}} */
const char *agent_commands_json(struct arena *arena);
