#include "agent/agent.h"
#include "agent/analysis.h"
#include "agent/run_record.h"
#include "base/json.h"
#include "run/run.h"
#include "service/input.h"
#include "service/reply.h"

#include <string.h>

struct analyze_input {
	const char *repo;
	const char *run_id; /* JSON text */
};

static const struct field ANALYZE_FIELDS[] = {
	BODY_TEXT(struct analyze_input, repo, "repo", REQUIRED, 3, 200),
	BODY_ID(struct analyze_input, run_id, "run_id", REQUIRED, RUN_ID_MAX),
	FIELD_END,
};

/* What is said about the run, and stored: everything but `cached`. */
static const char *analyse(struct request *rq, const struct run_record *run)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	struct analysis_source source = {run->record, run->gates, run->stage};
	struct analysis analysis = run_analysis(rq->arena, doc, &source);
	yyjson_mut_val *answer = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_val(doc, answer, "run_id",
	                       yyjson_val_mut_copy(doc, json_get(run->record, "run_id")));
	yyjson_mut_obj_add_str(doc, answer, "cause", analysis.cause);
	yyjson_mut_obj_add_val(doc, answer, "evidence", analysis.evidence);
	yyjson_mut_obj_add_str(doc, answer, "suggested_next_step", analysis.next_step);
	const char *text = json_write_mut(rq->arena, answer, NULL);
	run_text_store(rq, run, "analysis", text);
	return text;
}

/* A JSON object's text with one more member. */
static const char *with_cached(struct request *rq, const char *object, bool is_cached)
{
	return arena_printf(rq->arena, "%.*s,\"cached\":%s}", (int)strlen(object) - 1, object,
	                    is_cached ? "true" : "false");
}

void run_analyze(struct request *rq)
{
	struct analyze_input *in = request_input(rq, struct analyze_input, ANALYZE_FIELDS);
	struct run_reference reference = {.repo = in->repo, .run_id = in->run_id};
	struct run_record run = run_record_get(rq, &reference, "analysis");
	const char *text = run.text ? run.text : analyse(rq, &run);
	reply_json(rq, 200, with_cached(rq, text, run.text));
}
