#include "provision/provision.h"

#include "client/service_ask.h"
#include "input/input.h"
#include "input/key_limit.h"
#include "json/json.h"
#include "product/agent_pair.h"
#include "product/ref_name.h"
#include "product/repository_url.h"
#include "provision.sql.h"
#include "provision/agent_commands.h"
#include "provision/setup.h"
#include "provision/steps.h"
#include "provision/workflow_file.h"
#include "reply/resource.h"
#include "request/audited.h"
#include "service/process.h"
#include "source/source.h"

#include <string.h>
#include <strings.h>

#define BRANCH_DEFAULT   "expops/agent"
#define BRANCH_MAX       200
#define TOKEN_LIFETIME_S "3600"

enum err_code provision_settings_check(void)
{
	enum err_code workflow = workflow_settings_check();
	enum err_code agents = agents_init();
	enum err_code commands = agent_commands_init();
	return workflow ? workflow : agents ? agents : commands;
}

struct provision_input {
	const char *interest, *task;
	const char *agent, *repo, *branch;
	bool may_merge;
};

/* As repo_check(); the forms that addresses have, `acme/ranker.git` and `acme/ranker/`, are taken,
 * too. */
static bool named_repo_check(const char *text, size_t length, const char **ret_message)
{
	while (length && text[length - 1] == '/')
		length--;
	return repo_check(text, length, ret_message);
}

static const struct field START_FIELDS[] = {
	PATH_INTEREST(struct provision_input, interest),
	{IN_BODY, FIELD_TEXT, "agent", FIELD_AT(struct provision_input, agent, const char *),
         NULLABLE, 1, AGENT_NAME_MAX, .check = agent_name_check},
	{IN_BODY, FIELD_TEXT, "repo", FIELD_AT(struct provision_input, repo, const char *),
         NULLABLE, 3, REPO_MAX, .check = named_repo_check},
	{IN_BODY, FIELD_TEXT, "branch", FIELD_AT(struct provision_input, branch, const char *),
         NULLABLE, 1, BRANCH_MAX, .check = ref_name_check},
	BODY_BOOL(struct provision_input, may_merge, "auto_merge", OPTIONAL, false),
	FIELD_END,
};

static const struct field TASK_FIELDS[] = {
	PATH_INTEREST(struct provision_input, interest),
	PATH_UUID(struct provision_input, task, "task_id"),
	FIELD_END,
};

static const struct field INTEREST_FIELDS[] = {
	PATH_INTEREST(struct provision_input, interest),
	FIELD_END,
};

static const struct constraint CONSTRAINTS[] = {
	CONSTRAINT_TASK_PENDING_MAX,
	{0},
};

static const char NOT_FOUND[] = "no such interest";

/* Keys are made for keys of people only, as by POST /account/api-keys. */
static void require_personal_key(struct request *rq)
{
	if (rq->caller.kind == KEY_AUTOMATION)
		raise_error(rq, ERR_FORBIDDEN, "an automation key cannot have keys made");
}

/* The agent's key has no scope that the caller's lacks. Raises ERR_SCOPE. A gateway of the former
 * version does not know the question; then the task tells. */
static void require_scopes_of_agent(struct request *rq)
{
	service_ask_found(rq, INTERNAL_ID_provisioned_key_check,
	                  ASK_BODY(rq, {"maker_id", caller_key(rq).text}));
}

/* The agent to use, by default the first, and the model provider: the interest's, by default the
 * agent's first. */
static struct agent_pair choose_pair(struct request *rq, const char *agent, const char *provider)
{
	struct agent_pair pair = agent_pair_choose(rq, agent, NULL);
	if (provider && !agent_can_use(pair.agent, provider))
		raise_field(rq, "agent", "%s cannot use %s, the model provider of the interest",
		            pair.agent, provider);
	pair.provider = provider ? provider : pair.provider;
	if (!agent_commands_have(pair))
		raise_field(rq, "agent", "%s has no credential for %s in AGENT_COMMANDS",
		            pair.agent, pair.provider);
	return pair;
}

/* The only repository that a text links to. */
static const char *only_link(struct request *rq, const char *text)
{
	const char *found[2];
	size_t count = repository_urls_find(rq->arena, source_code_host(), text, found, 2);
	if (count != 1)
		raise_field(
			rq, "repo", "%s",
			count ? "must be given, because the context links to several repositories"
			      : "must be given, because the interest names no repository");
	return found[0];
}

/* The repository that the interest is about; the agent works on no other one. */
static const char *own_repo(struct request *rq, const char *source_url, const char *wanted)
{
	const char *rest;
	const char *own = repository_url_read(rq->arena, source_code_host(), source_url, &rest);
	if (!own)
		raise_field(rq, "repo",
		            "cannot be known: source_repo_url of the interest is no "
		            "repository of the code host");
	if (wanted && strcasecmp(wanted, own) != 0)
		raise_field(rq, "repo", "must be %s, which source_repo_url of the interest names",
		            own);
	return own;
}

/* The repository: the interest's own, or the one in the body, or the only one that its context
 * links to. */
static const char *choose_repo(struct request *rq, const struct provision_input *in,
                               const char *source_url, const char *context)
{
	const char *wanted = in->repo ? repository_path_read(rq->arena, in->repo) : NULL;
	if (in->repo && !wanted)
		raise_field(rq, "repo", "is no repository of the code host");
	if (source_url)
		return own_repo(rq, source_url, wanted);
	return wanted ? wanted : only_link(rq, context);
}

static const char *wanted_json(struct request *rq, const struct provision_input *in,
                               const char *repo, struct agent_pair pair)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *wanted = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, wanted, "repo", repo);
	yyjson_mut_obj_add_str(doc, wanted, "agent", pair.agent);
	yyjson_mut_obj_add_str(doc, wanted, "provider", pair.provider);
	yyjson_mut_obj_add_str(doc, wanted, "branch", in->branch ? in->branch : BRANCH_DEFAULT);
	yyjson_mut_obj_add_bool(doc, wanted, "auto_merge", in->may_merge);
	yyjson_mut_obj_add_str(doc, wanted, "maker_id", caller_key(rq).text);
	return json_write_mut(rq->arena, wanted, NULL);
}

/* Raise the outcome of provision_start() in SQL, unless there is a task. */
static void require_task(struct request *rq, const char *outcome)
{
	if (strcmp(outcome, "no_interest") == 0)
		raise_error(rq, ERR_NOT_FOUND, NOT_FOUND);
	if (strcmp(outcome, "in_progress") == 0)
		raise_error(rq, ERR_CONFLICT, "the interest is being provisioned in another way");
	if (strcmp(outcome, "taken") == 0)
		raise_error(rq, ERR_CONFLICT,
		            "the repository works for another interest; revoke that agent first");
}

void provision_start(struct request *rq)
{
	struct provision_input *in = request_input(rq, struct provision_input, START_FIELDS);
	struct pg_param account = pg_uuid(rq->caller.account), interest = pg_text(in->interest);
	require_personal_key(rq);
	struct pg_rows *found = pg_query(rq, PROVISION_INTEREST_SQL, account, interest);
	require_row(rq, found, NOT_FOUND);
	struct agent_pair pair = choose_pair(rq, in->agent, pg_get(found, 0, "provider"));
	const char *repo = choose_repo(rq, in, pg_get(found, 0, "source_repo_url"),
	                               pg_get(found, 0, "context"));
	require_repo(rq, repo);
	if (!process_settings.public_url[0])
		raise_error(rq, ERR_NOT_CONFIGURED, "PUBLIC_URL is not set");
	require_scopes_of_agent(rq);
	setup_require_app(rq, repo);
	audited_begin(rq); /* committed together with the answer */
	struct pg_rows *rows = pg_write(rq, CONSTRAINTS, PROVISION_START_SQL, account, interest,
	                                pg_text(wanted_json(rq, in, repo, pair)),
	                                pg_text(provision_step_names(rq->arena)), pg_text(rq->id));
	require_task(rq, pg_get(rows, 0, "outcome"));
	reply_task(rq, pg_get(rows, 0, "started_task"),
	           arena_printf(rq->arena, "/api/v1.0/interests/%s/provision/%s", in->interest,
	                        pg_get(rows, 0, "task_id")));
}

void provision_task_get(struct request *rq)
{
	struct provision_input *in = request_input(rq, struct provision_input, TASK_FIELDS);
	reply_one(rq, 200,
	          pg_query(rq, PROVISION_TASK_GET_SQL, pg_uuid(rq->caller.account),
	                   pg_text(in->interest), pg_text(in->task)),
	          "no such task");
}

void provision_status_get(struct request *rq)
{
	struct provision_input *in = request_input(rq, struct provision_input, INTEREST_FIELDS);
	reply_one(rq, 200,
	          pg_query(rq, PROVISION_STATUS_GET_SQL, pg_uuid(rq->caller.account),
	                   pg_text(in->interest), pg_text(workflow_version(rq->arena))),
	          NOT_FOUND);
}

/* Make the token: a key of one hour. */
static yyjson_val *make_token(struct request *rq, const char *interest, const char *repo)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *body = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, body, "name",
	                       arena_printf(rq->arena, "command line for %s", repo));
	yyjson_mut_obj_add_str(doc, body, "repo", repo);
	yyjson_mut_obj_add_str(doc, body, "interest_id", interest);
	yyjson_mut_obj_add_str(doc, body, "maker_id", caller_key(rq).text);
	yyjson_mut_obj_add_bool(doc, body, "repo_verified", true);
	yyjson_mut_obj_add_val(doc, body, "expires_in_seconds",
	                       yyjson_mut_raw(doc, TOKEN_LIFETIME_S));
	return service_ask(rq, INTERNAL_ID_provisioned_key_create,
	                   json_write_mut(rq->arena, body, NULL));
}

/* The code host's answer about push access may have changed since the interest was provisioned.
 * Raises ERR_NOT_FOUND: the account has none. */
static void require_push_access(struct request *rq, const char *repo)
{
	service_ask(rq, INTERNAL_ID_installation_facts_get, ASK_BODY(rq, {"repo", repo}));
}

void provision_cli_token_create(struct request *rq)
{
	struct provision_input *in = request_input(rq, struct provision_input, INTEREST_FIELDS);
	require_personal_key(rq);
	struct pg_rows *found = pg_query(rq, PROVISION_REPO_SQL, pg_uuid(rq->caller.account),
	                                 pg_text(in->interest));
	require_row(rq, found, NOT_FOUND);
	if (!pg_get_bool(found, 0, "is_installed"))
		raise_error(rq, ERR_CONFLICT, "the interest is not provisioned");
	const char *repo = pg_get(found, 0, "repo");
	require_repo(rq, repo);
	require_push_access(rq, repo);
	yyjson_val *key = make_token(rq, in->interest, repo);
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *answer = yyjson_mut_obj(doc);
	yyjson_mut_doc_set_root(doc, answer);
	json_add_member(doc, answer, "token", key, "key");
	json_add_member(doc, answer, "expires_at", key, "expires_at");
	json_add_member(doc, answer, "scopes", key, "scopes");
	yyjson_mut_obj_add_str(doc, answer, "repo", repo);
	reply_is_secret(rq);
	reply_doc(rq, 200, doc);
}
