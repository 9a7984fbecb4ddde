#include "agent/agent.h"
#include "base/url.h"
#include "evidence.sql.h"
#include "input/input.h"
#include "input/key_limit.h"
#include "json/json.h"
#include "pg/pg.h"
#include "reply/reply.h"
#include "reply/resource.h"
#include "run/run.h"

struct evidence_input {
	const char *artifact; /* checked by ARTIFACT */
};

static const struct field ARTIFACT[] = {
	JSON_URL("url", NULLABLE),
	JSON_ID("run_id", NULLABLE, RUN_ID_MAX),
	{IN_BODY, FIELD_TEXT, "repo", FIELD_NOWHERE, NULLABLE, 3, REPO_MAX, .check = repo_check},
	FIELD_END,
};

static const struct field EVIDENCE_FIELDS[] = {
	{IN_BODY, FIELD_OBJECT, "artifact", FIELD_AT(struct evidence_input, artifact, const char *),
         REQUIRED | OTHERS_IGNORED, .members = ARTIFACT},
	FIELD_END,
};

static bool has_member(yyjson_val *object, const char *name)
{
	yyjson_val *value = json_get(object, name);
	return value && !yyjson_is_null(value);
}

/* Add a fault unless exactly one of them names the artifact. Before request_input(). */
static void check_artifact(struct request *rq)
{
	yyjson_val *artifact = json_get(request_body(rq), "artifact");
	if (yyjson_is_obj(artifact) &&
	    has_member(artifact, "url") == has_member(artifact, "run_id"))
		problem_add_field(rq->arena, &rq->problem, "artifact",
		                  "must have either url or run_id");
}

void evidence_get(struct request *rq)
{
	check_artifact(rq);
	request_input(rq, struct evidence_input, EVIDENCE_FIELDS);
	yyjson_val *artifact = json_get(rq->http->json, "artifact");
	yyjson_val *run_id = json_get(artifact, "run_id");
	const char *url = json_get_text(artifact, "url");
	const char *repo = json_get_text(artifact, "repo");
	if (!repo)
		repo = rq->caller.repo;
	require_repo(rq, repo);
	struct pg_rows *rows =
		pg_query(rq, EVIDENCE_GET_SQL, pg_uuid(rq->caller.account), pg_text(repo),
	                 pg_text(url ? NULL : json_write(rq->arena, run_id, NULL)),
	                 pg_text(url ? url_canonical(rq->arena, url) : NULL));
	require_row(rq, rows, "no such run");
	reply_json(rq, 200, pg_json(rows));
}
