#include "agent/agent.h"
#include "agent/analysis.h"
#include "agent/run_record.h"
#include "digest.sql.h"
#include "input/input.h"
#include "json/json.h"
#include "llm/chat.h"
#include "pg/pg.h"
#include "reply/reply.h"

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

static const char TASK[] =
	"Say in at most four sentences what this pull request, issue or branch is, for somebody "
	"who has to decide whether to look at it now: who made it of what, what the gates said, "
	"where it stands. The draft was made by rules: keep its meaning, and add what the run "
	"shows beyond it.";

/* What is said about what the run opened, and stored. */
static struct run_text make_digest(struct request *rq, const struct run_record *run)
{
	const char *draft = digest_of(rq, run);
	const char *words = run_text_ask(rq, run, "digest", TASK, draft);
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *body = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, body, "title", title_of(rq, run));
	yyjson_mut_obj_add_str(doc, body, "digest", words ? words : draft);
	json_add_text(doc, body, "model", words ? chat_model() : NULL);
	return run_text_store(rq, run, "digest", body);
}

struct digest {
	struct run_text text;
	bool is_cached; /* it was stored before */
};

/* Of what a run opened. Raises ERR_NOT_FOUND when no run has this link. */
static struct digest digest_of_run(struct request *rq, const char *href)
{
	struct run_reference reference = {.url = href};
	struct run_record run = run_record_get(rq, &reference, "digest");
	if (run.text.body)
		return (struct digest){run.text, true};
	return (struct digest){make_digest(rq, &run), false};
}

/* Of the pull request that sets up an agent. Its text is stored as one of a run, with the id of the
 * installation. False: the link is of none. */
static bool digest_of_setup(struct request *rq, const char *href, struct digest *ret_digest)
{
	struct pg_rows *rows = pg_query(rq, DIGEST_SETUP_SQL, pg_uuid(rq->caller.account),
	                                pg_text(rq->caller.repo), pg_text(href));
	if (pg_empty(rows))
		return false;
	struct run_record setup = {
		.row = pg_get(rows, 0, "id"),
		.version = pg_get(rows, 0, "version"),
	};
	const char *stored = pg_get(rows, 0, "stored");
	if (stored) {
		struct run_text text = {json_parse_own(rq->arena, stored),
		                        pg_get(rows, 0, "made_at")};
		*ret_digest = (struct digest){text, true};
		return true;
	}
	yyjson_val *body = json_parse_own(rq->arena, pg_get(rows, 0, "body"));
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	struct run_text text = run_text_store(rq, &setup, "digest", yyjson_val_mut_copy(doc, body));
	*ret_digest = (struct digest){text, false};
	return true;
}

void inbox_digest_get(struct request *rq)
{
	struct digest_input *in = request_input(rq, struct digest_input, DIGEST_FIELDS);
	struct digest digest;
	if (!digest_of_setup(rq, in->href, &digest))
		digest = digest_of_run(rq, in->href);
	struct run_text text = digest.text;
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *answer = yyjson_mut_obj(doc);
	yyjson_mut_doc_set_root(doc, answer);
	yyjson_mut_obj_add_str(doc, answer, "href", in->href);
	json_add_member(doc, answer, "title", text.body, "title");
	json_add_member(doc, answer, "digest", text.body, "digest");
	yyjson_mut_obj_add_str(doc, answer, "generated_at", text.made_at);
	yyjson_mut_obj_add_bool(doc, answer, "cached", digest.is_cached);
	json_add_member(doc, answer, "model", text.body, "model");
	reply_doc(rq, 200, doc);
}
