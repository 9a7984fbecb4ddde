#include "agent/agent.h"
#include "agent/run_record.h"
#include "base/url.h"
#include "input/input.h"
#include "input/key_limit.h"
#include "json/json.h"
#include "reply/reply.h"
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

/* Members of a run's record that say how faithful it was to its paper and its brief. */
static const char *const FIDELITY[] = {
	"arxiv_id",
	"selection_integration_shape",
	"selection_coverage",
	"stub_density",
	"integration_violations",
	"files_touched",
	"files_dropped_out_of_scope",
	"touched_test_files",
	"coverage_summary",
	"chain",
	NULL,
};

static void add_artifact(yyjson_mut_doc *doc, yyjson_mut_val *answer, const struct run_record *run)
{
	yyjson_mut_val *artifact = yyjson_mut_obj_add_obj(doc, answer, "artifact");
	json_add_text(doc, artifact, "url", json_get_text(run->record, "artifact_url"));
	json_add_member(doc, artifact, "repo", run->record, "repo");
	json_add_member(doc, artifact, "outcome_kind", run->record, "outcome_kind");
	json_add_text(doc, artifact, "stage", run->stage);
}

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
	struct run_reference reference = {
		.repo = json_get_text(artifact, "repo"),
		.run_id = !run_id || yyjson_is_null(run_id) ? NULL
	                                                    : json_write(rq->arena, run_id, NULL),
		.url = url ? url_canonical(rq->arena, url) : NULL,
	};
	struct run_record run = run_record_get(rq, &reference, NULL);
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *answer = yyjson_mut_obj(doc);
	yyjson_mut_doc_set_root(doc, answer);
	add_artifact(doc, answer, &run);
	yyjson_mut_obj_add_val(doc, answer, "gates", yyjson_val_mut_copy(doc, run.gates));
	yyjson_mut_val *fidelity = yyjson_mut_obj_add_obj(doc, answer, "fidelity");
	for (const char *const *name = FIDELITY; *name; name++) {
		yyjson_val *value = json_get(run.record, *name);
		if (value)
			yyjson_mut_obj_add_val(doc, fidelity, *name,
			                       yyjson_val_mut_copy(doc, value));
	}
	json_add_member(doc, answer, "run_id", run.record, "run_id");
	reply_doc(rq, 200, doc);
}
