#include "product/agent_pair.h"

#include "base/arena.h"

#include <stdio.h>
#include <string.h>

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyz0123456789_-"

static const char *agent_providers;
static struct agent agents[AGENTS_MAX + 1];
static const char *unknown_agent; /* `must be one of agent_one, agent_two` */

const struct setting AGENT_SETTINGS[] = {
	SETTING_TEXT(&agent_providers, "AGENT_PROVIDERS",
                     "agent_one=anthropic,moonshot,zai,custom; agent_two=openai,custom; "
                     "agent_three=anthropic,google,moonshot,openai,zai",
                     "The agents, and the model providers that each can use, its default first."),
	SETTING_END,
};

/* The next part of the text before one of the separators, without spaces around it; NULL: there is
 * none. */
static char *next_part(char **rest, const char *separators)
{
	char *part = strsep(rest, separators);
	if (!part)
		return NULL;
	part += strspn(part, " ");
	size_t length = strlen(part);
	while (length > 0 && part[length - 1] == ' ')
		part[--length] = '\0';
	return part;
}

static bool is_name(const char *text)
{
	size_t length = strlen(text);
	return length > 0 && length <= AGENT_NAME_MAX && strspn(text, NAME_CHARACTERS) == length;
}

static bool has_provider(const struct agent *agent, const char *provider)
{
	for (const char *const *one = agent->providers; *one; one++)
		if (strcmp(*one, provider) == 0)
			return true;
	return false;
}

static const struct agent *find(const struct agent *list, const char *name)
{
	for (; list->name; list++)
		if (strcmp(list->name, name) == 0)
			return list;
	return NULL;
}

/* Read `agent_one=anthropic,moonshot`. What is wrong; NULL: nothing. */
static const char *read_agent(char *text, struct agent *agent)
{
	char *name = next_part(&text, "=");
	if (!is_name(name))
		return "a name is not of lower-case letters, digits, _ and -";
	if (!text)
		return "an agent has no providers";
	size_t count = 0;
	for (char *provider; (provider = next_part(&text, ","));) {
		if (!is_name(provider))
			return "a name is not of lower-case letters, digits, _ and -";
		if (count == AGENT_PROVIDERS_MAX)
			return "an agent has too many providers";
		if (has_provider(agent, provider))
			return "an agent has a provider twice";
		agent->providers[count++] = provider;
	}
	agent->name = name;
	return NULL;
}

enum err_code agents_parse(struct arena *arena, const char *text, struct agent list[AGENTS_MAX + 1],
                           const char **ret_fault)
{
	char *rest = arena_strdup(arena, text);
	size_t count = 0;
	memset(list, 0, sizeof(*list) * (AGENTS_MAX + 1));
	for (char *part; (part = next_part(&rest, ";"));) {
		struct agent agent = {0};
		if (!part[0])
			continue; /* after the last */
		const char *fault = count == AGENTS_MAX ? "there are too many agents"
		                                        : read_agent(part, &agent);
		if (!fault && find(list, agent.name))
			fault = "an agent is there twice";
		if (fault) {
			*ret_fault = fault;
			return ERR_INVALID;
		}
		list[count++] = agent;
	}
	if (count > 0)
		return ERR_NONE;
	*ret_fault = "there is no agent";
	return ERR_INVALID;
}

static const char *unknown_agent_message(struct arena *arena)
{
	struct buf message = {.arena = arena};
	buf_puts(&message, "must be one of ");
	for (const struct agent *agent = agents; agent->name; agent++)
		buf_printf(&message, "%s%s", agent == agents ? "" : ", ", agent->name);
	return message.data;
}

enum err_code agents_init(void)
{
	static struct arena *arena; /* lives as long as the process */
	const char *fault;
	arena = arena_new();
	enum err_code code = agents_parse(arena, agent_providers, agents, &fault);
	if (code)
		fprintf(stderr, "AGENT_PROVIDERS: %s\n", fault);
	unknown_agent = unknown_agent_message(arena);
	return code;
}

const struct agent *agents_list(void)
{
	return agents;
}

bool agent_name_check(const char *text, size_t length attr_unused, const char **ret_message)
{
	*ret_message = unknown_agent;
	return find(agents, text);
}

/* The first agent that can use the provider, or any where it is NULL; an entry without a name: none
 * can. */
static const struct agent *first_with(const char *provider)
{
	const struct agent *agent = agents;
	while (agent->name && provider && !has_provider(agent, provider))
		agent++;
	return agent;
}

bool agent_provider_check(const char *text, size_t length attr_unused, const char **ret_message)
{
	*ret_message = "can be used by no agent";
	return first_with(text)->name;
}

bool agent_can_use(const char *name, const char *provider)
{
	const struct agent *agent = find(agents, name);
	return agent && has_provider(agent, provider);
}

/* `a, b, c` */
static const char *names_of_providers(struct request *rq, const struct agent *agent)
{
	struct buf names = {.arena = rq->arena};
	for (const char *const *one = agent->providers; *one; one++)
		buf_printf(&names, "%s%s", one == agent->providers ? "" : ", ", *one);
	return names.data;
}

void agent_pair_check(struct request *rq, const char *name, const char *provider)
{
	const struct agent *agent = name ? find(agents, name) : NULL;
	if (agent && agent->name && provider && first_with(provider)->name &&
	    !has_provider(agent, provider))
		problem_add_field(rq->arena, &rq->problem, "provider", "must be one of %s for %s",
		                  names_of_providers(rq, agent), agent->name);
}

struct agent_pair agent_pair_choose(struct request *rq, const char *name, const char *provider)
{
	const struct agent *agent = name ? find(agents, name) : first_with(provider);
	if (!agent)
		raise_field(rq, "agent", "%s", unknown_agent);
	if (!agent->name)
		raise_field(rq, "provider", "can be used by no agent");
	if (provider && !has_provider(agent, provider))
		raise_field(rq, "provider", "must be one of %s for %s",
		            names_of_providers(rq, agent), agent->name);
	const char *const *chosen = agent->providers;
	while (provider && strcmp(*chosen, provider) != 0)
		chosen++;
	return (struct agent_pair){agent->name, *chosen};
}
