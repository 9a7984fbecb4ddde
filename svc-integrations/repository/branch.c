#include "repository/branch.h"

#include "http/query.h"
#include "json/json.h"
#include "repository/replica_lock.h"

#include <string.h>

const char *branch_head(struct request *rq, const struct repository *repository, const char *branch)
{
	const char *ref = arena_printf(rq->arena, "heads/%s", branch);
	struct code_host_answer answer = repository_call(rq, repository, "GET", NULL, "/git/ref/%s",
	                                                 query_encode(rq->arena, ref));
	if (answer.status == 404)
		return NULL;
	const char *sha = json_get_text(json_get(answer.json, "object"), "sha");
	if (answer.status != 200 || !sha)
		repository_refuse(rq, &answer, "no such branch");
	return sha;
}

void branch_lock(struct request *rq, const struct repository *repository, const char *branch)
{
	replica_lock_take(rq, arena_printf(rq->arena, "branch %s %s",
	                                   repository_key(rq, repository), branch));
}

const char *branch_default(struct request *rq, const struct repository *repository)
{
	struct code_host_answer answer = repository_call(rq, repository, "GET", NULL, "%s", "");
	const char *branch = json_get_text(answer.json, "default_branch");
	if (answer.status != 200 || !branch)
		repository_refuse(rq, &answer, "no such repository");
	return branch;
}

bool branch_make_at(struct request *rq, const struct repository *repository, const char *branch,
                    const char *commit)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *body = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, body, "ref", arena_printf(rq->arena, "refs/heads/%s", branch));
	yyjson_mut_obj_add_str(doc, body, "sha", commit);
	struct code_host_answer answer = repository_call(rq, repository, "POST", body, "/git/refs");
	if (answer.status != 201 && !branch_head(rq, repository, branch))
		repository_refuse(rq, &answer, "no such repository");
	return answer.status == 201;
}

bool branch_make(struct request *rq, const struct repository *repository, const char *branch,
                 const char *base)
{
	if (branch_head(rq, repository, branch))
		return false;
	if (!base)
		base = branch_default(rq, repository);
	const char *sha = branch_head(rq, repository, base);
	if (!sha)
		raise_field(rq, "base", "is no branch of the repository");
	return branch_make_at(rq, repository, branch, sha);
}
