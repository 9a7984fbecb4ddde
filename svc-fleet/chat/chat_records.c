#include "chat/chat_records.h"

#include "agent/run_record.h"
#include "chat.sql.h"
#include "input/input.h"
#include "input/key_limit.h"
#include "json/json.h"
#include "pg/pg.h"
#include "reply/resource.h"
#include "report/finding.h"

static yyjson_val *find_findings(struct request *rq, const struct finding_facts *facts)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *findings = yyjson_mut_arr(doc);
	findings_add(rq->arena, doc, findings, facts);
	return json_parse_own(rq->arena, json_write_mut(rq->arena, findings, NULL));
}

static void read_focus(struct request *rq, struct chat_records *records, const char *run_id)
{
	struct run_reference reference = {.repo = records->repo, .run_id = run_id};
	struct run_record run = run_record_get(rq, &reference, NULL);
	records->focus = run.record;
	records->focus_gates = run.gates;
	records->focus_stage = run.stage;
}

struct chat_records chat_records_read(struct request *rq, const char *repo,
                                      const char *focus_run_id)
{
	require_repo(rq, repo);
	struct pg_rows *rows = pg_query(rq, CHAT_RECORDS_GET_SQL, pg_uuid(rq->caller.account),
	                                pg_text(repo), pg_int(CHAT_RUNS_MAX));
	require_row(rq, rows, "no agent of yours works on this repository");
	struct chat_records records = {
		.repo = pg_get(rows, 0, "repo"),
		.runs = request_parse_own(rq, pg_get(rows, 0, "runs")),
		.agents = json_parse_own(rq->arena, pg_get(rows, 0, "agents")),
		.waiting = json_parse_own(rq->arena, pg_get(rows, 0, "waiting")),
		.month = json_parse_own(rq->arena, pg_get(rows, 0, "month")),
		.total = json_parse_own(rq->arena, pg_get(rows, 0, "total")),
		.merged = pg_get_int(rows, 0, "merged"),
	};
	struct finding_facts facts = {
		records.month, json_parse_own(rq->arena, pg_get(rows, 0, "facts")),
		arena_printf(rq->arena, "/api/v1.0/fleet/runs?since=%s&until=%s&repos=%s",
	                     pg_get(rows, 0, "since"), pg_get(rows, 0, "until"), records.repo)};
	records.findings = find_findings(rq, &facts);
	if (focus_run_id)
		read_focus(rq, &records, focus_run_id);
	return records;
}
