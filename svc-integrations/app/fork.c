/* The code host forks in the background (202) and takes up to some minutes. A fork that does not answer within
 * the request's time is 503 with Retry-After: the repetition finds it. */
#include "app/fork.h"

#include "app/code_host.h"
#include "base/json.h"
#include "connection/token.h"
#include "http/query.h"
#include "loop/wait.h"
#include "pg/pg.h"
#include "service/input.h"
#include "service/resource.h"

#include <string.h>
#include <strings.h>

#define REPO_MAX     201
#define BRANCHES_MAX 20
#define BRANCH_MAX   244
#define POLL_MS      1000
#define WAIT_MAX_MS  20000

struct fork_input {
	const char *repo;
	const char *branches; /* JSON array; NULL: none */
};

static const struct field FORK_FIELDS[] = {
	BODY_TEXT(struct fork_input, repo, "repo", REQUIRED | TRIMMED, 1, REPO_MAX),
	BODY_STRINGS(struct fork_input, branches, "branches", NULLABLE, 0, BRANCHES_MAX,
                     BRANCH_MAX),
	FIELD_END,
};

/* A fork in the making. */
struct fork {
	struct code_host_auth user;
	struct repository_name source;
	const char *full_name, *html_url; /* of the fork */
	bool is_new;
};

static struct code_host_answer get(struct request *rq, const struct fork *fork, const char *path)
{
	return code_host_call(rq, &fork->user, "GET", path, NULL);
}

/* Look for a fork of the source under the caller's login. */
static bool find(struct request *rq, struct fork *fork, const char *login)
{
	const char *path = arena_printf(rq->arena, "/repos/%s/%s", login, fork->source.name);
	struct code_host_answer answer = get(rq, fork, path);
	const char *parent = json_get_text(json_get(answer.json, "parent"), "full_name");
	if (answer.status != 200 || !parent || strcasecmp(parent, fork->source.full) != 0)
		return false;
	fork->full_name = json_get_text(answer.json, "full_name");
	fork->html_url = json_get_text(answer.json, "html_url");
	return true;
}

static void start(struct request *rq, struct fork *fork)
{
	const char *path = arena_printf(rq->arena, "/repos/%s/forks", fork->source.full);
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	struct code_host_answer answer =
		code_host_call(rq, &fork->user, "POST", path, yyjson_mut_obj(doc));
	if (answer.status != 202)
		raise_error(rq, ERR_CONFLICT, "the code host does not fork it: %s",
		            code_host_reason(rq, &answer));
	fork->full_name = json_get_text(answer.json, "full_name");
	fork->html_url = json_get_text(answer.json, "html_url");
	if (!fork->full_name)
		raise_error(rq, ERR_UPSTREAM, "the code host did not name the fork");
	fork->is_new = true;
}

/* Wait until the fork has commits. */
static void wait_for_content(struct request *rq, const struct fork *fork)
{
	const char *path = arena_printf(rq->arena, "/repos/%s/commits?per_page=1", fork->full_name);
	for (int waited_ms = 0; get(rq, fork, path).status != 200; waited_ms += POLL_MS) {
		if (waited_ms >= WAIT_MAX_MS) {
			rq->problem.retry_after_s = 30;
			raise_error(rq, ERR_UNAVAILABLE,
			            "the code host still makes the fork; try again");
		}
		fiber_sleep(rq, POLL_MS);
	}
}

/* The commit of a branch; NULL: there is none. */
static const char *commit_of(struct request *rq, const struct fork *fork, const char *repo,
                             const char *branch)
{
	const char *path = arena_printf(rq->arena, "/repos/%s/git/ref/heads/%s", repo,
	                                query_encode(rq->arena, branch));
	struct code_host_answer answer = get(rq, fork, path);
	return answer.status == 200 ? json_get_text(json_get(answer.json, "object"), "sha") : NULL;
}

/* Create a branch of the fork at the source's commit; whether it is new. A branch that the source lacks is a
 * fault of the request. */
static bool seed_branch(struct request *rq, const struct fork *fork, size_t index,
                        const char *branch)
{
	if (commit_of(rq, fork, fork->full_name, branch))
		return false;
	const char *sha = commit_of(rq, fork, fork->source.full, branch);
	if (!sha)
		raise_field(rq, arena_printf(rq->arena, "branches[%zu]", index),
		            "is no branch of the repository");
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *body = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, body, "ref", arena_printf(rq->arena, "refs/heads/%s", branch));
	yyjson_mut_obj_add_str(doc, body, "sha", sha);
	const char *path = arena_printf(rq->arena, "/repos/%s/git/refs", fork->full_name);
	struct code_host_answer answer = code_host_call(rq, &fork->user, "POST", path, body);
	/* 422: another request was faster. */
	if (answer.status != 201 && answer.status != 422)
		raise_error(rq, ERR_CONFLICT, "the code host does not create the branch: %s",
		            code_host_reason(rq, &answer));
	return answer.status == 201;
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

/* The caller's login; raises when the source does not exist for the caller. */
static const char *check_source(struct request *rq, const struct fork *fork)
{
	struct code_host_answer user = get(rq, fork, "/user");
	struct code_host_answer source =
		get(rq, fork, arena_printf(rq->arena, "/repos/%s", fork->source.full));
	const char *login = json_get_text(user.json, "login");
	if (source.status != 200)
		raise_error(rq, ERR_NOT_FOUND, "no such repository for your code-host user");
	if (user.status != 200 || !login)
		raise_error(rq, ERR_CONFLICT, "the code host does not accept the connection: %s",
		            code_host_reason(rq, &user));
	return login;
}

void fork_create(struct request *rq)
{
	struct fork_input *in = request_input(rq, struct fork_input, FORK_FIELDS);
	struct connection_token token = connection_token(rq, &rq->caller.account, "code_host");
	struct fork fork = {
		.source = repository_name_read(rq, "repo", in->repo),
		.user = {.token = token.access_token,
	                 .limit = arena_printf(rq->arena, "user %s",
	                                       pg_uuid(rq->caller.account).text)},
	};
	const char *login = check_source(rq, &fork);
	if (!find(rq, &fork, login))
		start(rq, &fork);
	wait_for_content(rq, &fork);
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *answer = yyjson_mut_obj(doc);
	yyjson_mut_doc_set_root(doc, answer);
	yyjson_mut_obj_add_str(doc, answer, "full_name", fork.full_name);
	yyjson_mut_obj_add_str(doc, answer, "html_url", fork.html_url);
	yyjson_mut_obj_add_bool(doc, answer, "created", fork.is_new);
	yyjson_mut_obj_add_val(doc, answer, "branches", seed_branches(rq, &fork, doc));
	reply_doc(rq, 200, doc);
}
