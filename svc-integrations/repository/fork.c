#include "repository/fork.h"

#include "app/access.h"
#include "base/timefmt.h"
#include "connection/token.h"
#include "input/input.h"
#include "input/key_limit.h"
#include "json/json.h"
#include "loop/wait.h"
#include "reply/reply.h"
#include "repository/branch.h"

#include <string.h>
#include <strings.h>

#define BRANCHES_MAX  20
#define POLL_MS       1000
#define RESERVE_MS    8000 /* of the request's time: for the branches */
#define RETRY_AFTER_S 30
#define CLOCKS_MS     60000 /* how much the code host's clock may be behind */

struct fork_input {
	const char *repo;
	const char *branches; /* JSON array; NULL: none */
};

static const struct field FORK_FIELDS[] = {
	{IN_BODY, FIELD_TEXT, "repo", FIELD_AT(struct fork_input, repo, const char *),
         REQUIRED | TRIMMED, 1, REPOSITORY_NAME_MAX, .check = repository_name_check},
	BODY_STRINGS(struct fork_input, branches, "branches", NULLABLE, 0, BRANCHES_MAX,
                     BRANCH_NAME_MAX),
	FIELD_END,
};

/* A fork in the making. */
struct fork {
	const char *login;              /* of the user, who makes it */
	struct repository source, made; /* by the user's own token */
	const char *source_name;        /* without the owner */
	const char *html_url;           /* of the fork */
	bool is_new;
};

static attr_noreturn void refuse(struct request *rq, const struct code_host_answer *answer)
{
	repository_refuse(rq, answer, "no such repository for your code-host user");
}

/* Ask whose fork it will be, and of what. */
static void find_source(struct request *rq, struct fork *fork)
{
	struct code_host_answer user = code_host_call(rq, &fork->source.auth, "GET", "/user", NULL);
	fork->login = json_get_text(user.json, "login");
	if (user.status == 401)
		refuse(rq, &user);
	if (user.status != 200 || !fork->login)
		raise_error(rq, ERR_UNAVAILABLE, "the code host does not say who you are: %s",
		            code_host_reason(rq, &user));
	connection_accepted(rq, "code_host");
	struct code_host_answer source = repository_call(rq, &fork->source, "GET", NULL, "%s", "");
	const char *owner = json_get_text(json_get(source.json, "owner"), "login");
	fork->source.full_name = json_get_text(source.json, "full_name");
	fork->source_name = json_get_text(source.json, "name");
	if (source.status == 401)
		refuse(rq, &source);
	if (source.status != 200 || !fork->source.full_name || !fork->source_name)
		raise_error(rq, ERR_NOT_FOUND, "no such repository for your code-host user");
	if (owner && strcasecmp(owner, fork->login) == 0)
		raise_error(rq, ERR_CONFLICT, "the repository is in your own account");
}

/* Take the fork that the code host has answered. */
static bool take(struct fork *fork, yyjson_val *json)
{
	fork->made.full_name = json_get_text(json, "full_name");
	fork->html_url = json_get_text(json, "html_url");
	return fork->made.full_name;
}

/* Look for a fork of the source under the user's login. */
static bool find(struct request *rq, struct fork *fork)
{
	const char *path = arena_printf(rq->arena, "/repos/%s/%s", fork->login, fork->source_name);
	struct code_host_answer answer = code_host_call(rq, &fork->source.auth, "GET", path, NULL);
	const char *parent = json_get_text(json_get(answer.json, "parent"), "full_name");
	if (answer.status == 401)
		refuse(rq, &answer);
	return answer.status == 200 && parent && strcasecmp(parent, fork->source.full_name) == 0 &&
	       take(fork, answer.json);
}

/* The code host answers a fork that exists as it answers a new one. find() does not see one that
 * has not the source's name, as after either was renamed. */
static bool is_older(yyjson_val *json, int64_t time_ms)
{
	const char *text = json_get_text(json, "created_at");
	int64_t created_ms;
	return text && time_parse(text, strlen(text), &created_ms) &&
	       created_ms < time_ms - CLOCKS_MS;
}

static void start(struct request *rq, struct fork *fork)
{
	int64_t begun_ms = time_now_ms();
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	struct code_host_answer answer =
		repository_call(rq, &fork->source, "POST", yyjson_mut_obj(doc), "/forks");
	if (answer.status != 202)
		refuse(rq, &answer);
	if (!take(fork, answer.json))
		raise_error(rq, ERR_UPSTREAM, "the code host did not name the fork");
	fork->is_new = !is_older(answer.json, begun_ms);
}

/* Wait until the fork has commits. */
static void wait_for_content(struct request *rq, const struct repository *made)
{
	struct code_host_answer answer;
	while ((answer = repository_call(rq, made, "GET", NULL, "/commits?per_page=1")).status !=
	       200) {
		if (request_left_ms(rq) < RESERVE_MS) {
			if (answer.status == 401)
				refuse(rq, &answer);
			raise_retry_later(rq, ERR_UNAVAILABLE, RETRY_AFTER_S,
			                  "the code host still makes the fork; try again");
		}
		fiber_sleep(rq, POLL_MS);
	}
}

/* Create a branch of the fork at the source's commit, which forks share; whether it is new. A
 * branch that the source lacks is a fault of the request. */
static bool seed_branch(struct request *rq, const struct fork *fork, size_t index,
                        const char *branch)
{
	if (branch_head(rq, &fork->made, branch))
		return false;
	const char *commit = branch_head(rq, &fork->source, branch);
	if (!commit)
		raise_field(rq, arena_printf(rq->arena, "branches[%zu]", index),
		            "is no branch of the repository");
	return branch_make_at(rq, &fork->made, branch, commit);
}

static yyjson_mut_val *seed_branches(struct request *rq, const struct fork *fork,
                                     yyjson_mut_doc *doc)
{
	yyjson_mut_val *list = yyjson_mut_arr(doc);
	size_t index, max;
	yyjson_val *branch;
	yyjson_arr_foreach (json_get(rq->http->json, "branches"), index, max, branch) {
		const char *name = yyjson_get_str(branch);
		yyjson_mut_val *row = yyjson_mut_arr_add_obj(doc, list);
		yyjson_mut_obj_add_str(doc, row, "name", name);
		yyjson_mut_obj_add_bool(doc, row, "created", seed_branch(rq, fork, index, name));
	}
	return list;
}

/* A fork is made with the account's connection. An automation key that proves no repository opens
 * nothing at the code host. */
static void require_code_host_key(struct request *rq)
{
	const struct identity *caller = &rq->caller;
	if (caller->kind == KEY_AUTOMATION && !(caller->repo && caller->is_repo_verified))
		raise_error(
			rq, ERR_FORBIDDEN,
			"an automation key forks only the repository that it was provisioned for");
}

void fork_create(struct request *rq)
{
	struct fork_input *in = request_input(rq, struct fork_input, FORK_FIELDS);
	struct repository_name repo = repository_name_read(rq, "repo", in->repo);
	require_repo(rq, repo.full);
	require_code_host_key(rq);
	const struct code_host_auth user = access_connection_auth(rq);
	struct fork fork = {
		.source = {.full_name = repo.full, .auth = user},
		.made = {.auth = user},
	};
	find_source(rq, &fork);
	if (!find(rq, &fork))
		start(rq, &fork);
	wait_for_content(rq, &fork.made);
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *answer = yyjson_mut_obj(doc);
	yyjson_mut_doc_set_root(doc, answer);
	yyjson_mut_obj_add_str(doc, answer, "full_name", fork.made.full_name);
	json_add_text(doc, answer, "html_url", fork.html_url);
	yyjson_mut_obj_add_bool(doc, answer, "created", fork.is_new);
	yyjson_mut_obj_add_val(doc, answer, "branches", seed_branches(rq, &fork, doc));
	reply_doc(rq, 200, doc);
}
