#include "agent/agent.h"
#include "agent/analysis.h"
#include "agent/run_record.h"
#include "base/json.h"
#include "service/input.h"
#include "service/reply.h"

#include <string.h>

struct digest_input {
	const char *href;
};

static const struct field DIGEST_FIELDS[] = {
	BODY_URL(struct digest_input, href, "href", REQUIRED),
	FIELD_END,
};

static const char *text_or(const struct run_record *run, const char *member, const char *fallback)
{
	const char *text = json_get_text(run->record, member);
	return text && *text ? text : fallback;
}

/* `Pull request of acme/ranker`. */
static const char *title_of(struct request *rq, const struct run_record *run)
{
	static const char *const NAMES[][2] = {{"pull_request", "Pull request"},
	                                       {"issue", "Issue"},
	                                       {"branch", "Branch"}};
	const char *kind = text_or(run, "outcome_kind", ""), *name = "Result";
	for (size_t i = 0; i < ARRAY_LEN(NAMES); i++) {
		if (strcmp(kind, NAMES[i][0]) == 0)
			name = NAMES[i][1];
	}
	return arena_printf(rq->arena, "%s of %s", name, text_or(run, "repo", ""));
}

/* How many gates of the run have this status. */
static size_t count_gates(const struct run_record *run, const char *status)
{
	size_t i, count, found = 0;
	yyjson_val *gate;
	yyjson_arr_foreach (run->gates, i, count, gate)
		found += strcmp(json_get_text(gate, "status"), status) == 0;
	return found;
}

/* Three sentences at most: who made it of what, what the gates said, and where it stands. */
static const char *digest_of(struct request *rq, const struct run_record *run)
{
	size_t files = yyjson_arr_size(json_get(run->record, "files_touched"));
	struct analysis_source source = {run->record, run->gates, run->stage};
	struct analysis analysis = run_analysis(rq->arena, json_doc_new(rq->arena), &source);
	const char *paper = json_get_text(run->record, "arxiv_id");
	return arena_printf(rq->arena,
	                    "Made by %s%s%s, touching %zu file%s. Of its gates %zu passed and %zu "
	                    "stopped. %s %s",
	                    text_or(run, "agent", "an agent"), paper ? " from arXiv " : "",
	                    paper ? paper : "", files, files == 1 ? "" : "s",
	                    count_gates(run, "passed"), count_gates(run, "stopped"), analysis.cause,
	                    analysis.next_step);
}

/* What is stored: title and digest. */
static const char *make_digest(struct request *rq, const struct run_record *run)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *made = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, made, "title", title_of(rq, run));
	yyjson_mut_obj_add_str(doc, made, "digest", digest_of(rq, run));
	return json_write_mut(rq->arena, made, NULL);
}

void inbox_digest_get(struct request *rq)
{
	struct digest_input *in = request_input(rq, struct digest_input, DIGEST_FIELDS);
	struct run_reference reference = {.url = in->href};
	struct run_record run = run_record_get(rq, &reference, "digest");
	bool is_cached = run.text;
	const char *text = is_cached ? run.text : make_digest(rq, &run);
	const char *made_at =
		is_cached ? run.text_made_at : run_text_store(rq, &run, "digest", text);
	yyjson_val *stored = NULL;
	require(json_parse(rq->arena, text, strlen(text), &stored, NULL) == ERR_NONE);
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *answer = yyjson_mut_obj(doc);
	yyjson_mut_doc_set_root(doc, answer);
	yyjson_mut_obj_add_str(doc, answer, "href", in->href);
	yyjson_mut_obj_add_str(doc, answer, "title", json_get_text(stored, "title"));
	yyjson_mut_obj_add_str(doc, answer, "digest", json_get_text(stored, "digest"));
	yyjson_mut_obj_add_str(doc, answer, "generated_at", made_at);
	yyjson_mut_obj_add_bool(doc, answer, "cached", is_cached);
	reply_doc(rq, 200, doc);
}
