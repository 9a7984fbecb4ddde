#include "agent/run_record.h"

#include "input/input.h"
#include "input/key_limit.h"
#include "json/json.h"
#include "llm/chat.h"
#include "pg/pg.h"
#include "reply/resource.h"
#include "run_record.sql.h"
#include "wording/run_brief.h"
#include "wording/wording.h"

#include <string.h>

/* Of a member of a run in a prompt. A run then takes about 20 KiB at most. */
#define MEMBER_MAX_BYTES 1000

struct run_record run_record_get(struct request *rq, const struct run_reference *reference,
                                 const char *kind)
{
	const char *repo = reference->repo ? reference->repo : rq->caller.repo;
	require_repo(rq, repo);
	struct pg_rows *rows =
		pg_query(rq, RUN_RECORD_GET_SQL, pg_uuid(rq->caller.account), pg_text(repo),
	                 pg_text(reference->run_id), pg_text(reference->url), pg_text(kind),
	                 pg_bool(chat_model() != NULL));
	require_row(rq, rows, "no such run");
	const char *text = pg_get(rows, 0, "text");
	return (struct run_record){
		.record = request_parse_own(rq, pg_json(rows)),
		.stage = pg_get(rows, 0, "stage"),
		.gates = json_parse_own(rq->arena, pg_get(rows, 0, "gates")),
		.text = {text ? json_parse_own(rq->arena, text) : NULL, pg_get(rows, 0, "made_at")},
		.row = pg_get(rows, 0, "id"),
		.version = pg_get(rows, 0, "version"),
	};
}

struct run_text run_text_store(struct request *rq, const struct run_record *run, const char *kind,
                               yyjson_mut_val *body)
{
	struct pg_rows *rows = pg_query(rq, RUN_TEXT_STORE_SQL, pg_text(run->row), pg_text(kind),
	                                pg_uuid(rq->caller.account), pg_text(run->version),
	                                pg_text(json_write_mut(rq->arena, body, NULL)));
	return (struct run_text){json_parse_own(rq->arena, pg_json(rows)),
	                         pg_get(rows, 0, "made_at")};
}

const char *run_text_ask(struct request *rq, const struct run_record *run, const char *kind,
                         const char *task, const char *draft)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *brief = run_brief(rq->arena, doc, run->record, MEMBER_MAX_BYTES);
	json_add_text(doc, brief, "stage_of_artifact", run->stage);
	struct buf prompt = {.arena = rq->arena}, quoted = {.arena = rq->arena};
	json_quote(&quoted, draft, strlen(draft));
	wording_add(&prompt, "run", json_write_mut(rq->arena, brief, NULL));
	wording_add(&prompt, "gates", json_write(rq->arena, run->gates, NULL));
	wording_add(&prompt, "draft", quoted.data);
	return wording_ask(rq, kind, task, &prompt);
}
