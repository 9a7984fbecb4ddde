#include "agent/agent.h"
#include "agent/analysis.h"
#include "agent/run_record.h"
#include "input/input.h"
#include "input/key_limit.h"
#include "json/json.h"
#include "llm/chat.h"
#include "reply/reply.h"
#include "run/run.h"

#include <string.h>

struct analyze_input {
	const char *repo;
	const char *run_id; /* JSON text */
};

static const struct field ANALYZE_FIELDS[] = {
	BODY_REPO(struct analyze_input, repo),
	BODY_ID(struct analyze_input, run_id, "run_id", REQUIRED, RUN_ID_MAX),
	FIELD_END,
};

static const char TASK[] =
	"Say in at most three sentences why the run ended as it did. Then, after an empty line, "
	"say in one sentence what to do next. The draft was made by rules: keep its meaning, and "
	"add what the run shows beyond it.";

/* Take the model's words: a cause, and after an empty line the next step. */
static void take_words(struct request *rq, struct analysis *analysis, const char *words)
{
	const char *end = strstr(words, "\n\n");
	if (!end) {
		analysis->cause = words;
		return;
	}
	analysis->cause = arena_strndup(rq->arena, words, (size_t)(end - words));
	analysis->next_step = end + strspn(end, "\r\n\t ");
}

/* What is said about the run, and stored: everything but `cached`. */
static struct run_text analyse(struct request *rq, const struct run_record *run)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	struct analysis_source source = {run->record, run->gates, run->stage};
	struct analysis analysis = run_analysis(rq->arena, doc, &source);
	const char *draft = arena_printf(rq->arena, "%s\n\n%s", analysis.cause, analysis.next_step);
	const char *words = run_text_ask(rq, run, "analysis", TASK, draft);
	if (words)
		take_words(rq, &analysis, words);
	yyjson_mut_val *body = yyjson_mut_obj(doc);
	json_add_member(doc, body, "run_id", run->record, "run_id");
	yyjson_mut_obj_add_str(doc, body, "cause", analysis.cause);
	yyjson_mut_obj_add_val(doc, body, "evidence", analysis.evidence);
	yyjson_mut_obj_add_str(doc, body, "suggested_next_step", analysis.next_step);
	json_add_text(doc, body, "model", words ? chat_model() : NULL);
	return run_text_store(rq, run, "analysis", body);
}

void run_analyze(struct request *rq)
{
	struct analyze_input *in = request_input(rq, struct analyze_input, ANALYZE_FIELDS);
	struct run_reference reference = {.repo = in->repo, .run_id = in->run_id};
	struct run_record run = run_record_get(rq, &reference, "analysis");
	struct run_text text = run.text.body ? run.text : analyse(rq, &run);
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *answer = yyjson_val_mut_copy(doc, text.body);
	yyjson_mut_doc_set_root(doc, answer);
	yyjson_mut_obj_add_bool(doc, answer, "cached", run.text.body != NULL);
	reply_doc(rq, 200, doc);
}
