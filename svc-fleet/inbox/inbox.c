#include "inbox/inbox.h"

#include "client/service_ask.h"
#include "inbox.sql.h"
#include "input/input.h"
#include "json/json.h"
#include "pg/pg.h"
#include "reply/reply.h"

#define IDS_MAX           1000
#define PEOPLE_TIMEOUT_MS 2000

struct list_input {
	bool is_archived;
	const char *kind;
	int64_t limit, offset;
};

static const char *const KINDS[] = {
	"pull_request_waiting",
	"issue_waiting",
	"run_failed",
	"agent_silent",
	"setup_waiting",
	"model_key_missing",
	"agent_revoked",
	"access_lost",
	"key_expiring",
	"endpoint_disabled",
	"budget_warning",
	"budget_reached",
	"budget_unguarded",
	"cost_unusual",
	"experiment_overdue",
	"experiment_decided_without_data",
	"experiment_shipped_without_merge",
	"connection_gone",
	NULL,
};

static const struct field LIST_FIELDS[] = {
	QUERY_BOOL(struct list_input, is_archived, "archived", false),
	QUERY_ENUM(struct list_input, kind, "kind", KINDS),
	QUERY_LIMIT(struct list_input, limit, 20, 100),
	QUERY_OFFSET(struct list_input, offset),
	FIELD_END,
};

struct dismiss_input {
	const char *id;  /* one of these two */
	const char *ids; /* JSON array of UUIDs */
	bool undo;
};

static const struct field DISMISS_FIELDS[] = {
	BODY_UUID(struct dismiss_input, id, "id", NULLABLE),
	BODY_STRINGS(struct dismiss_input, ids, "ids", NULLABLE, 0, IDS_MAX, 64),
	BODY_BOOL(struct dismiss_input, undo, "undo", OPTIONAL, false),
	FIELD_END,
};

static struct pg_rows *read_items(struct request *rq, const struct list_input *in,
                                  const char *people)
{
	return pg_query(rq, INBOX_LIST_SQL, pg_uuid(rq->caller.account), pg_text(rq->caller.repo),
	                pg_bool(in->is_archived), pg_int(in->limit), pg_int(in->offset),
	                pg_text(in->kind), pg_text(people));
}

/* The people with these ids, as the gateway names them; NULL: it does not answer, and the items
 * name nobody. */
static const char *ask_people(struct request *rq, const char *ids)
{
	const char *body = arena_printf(rq->arena, "{\"ids\": %s}", ids);
	struct service_answer answer =
		service_ask_try(rq, INTERNAL_ID_people_find, body,
	                        &(struct ask_options){.timeout_ms = PEOPLE_TIMEOUT_MS});
	return answer.code ? NULL : json_write(rq->arena, answer.json, NULL);
}

/* Few items are about somebody: only then the gateway is asked, and the items are read again. */
void inbox_list(struct request *rq)
{
	struct list_input *in = request_input(rq, struct list_input, LIST_FIELDS);
	struct pg_rows *rows = read_items(rq, in, NULL);
	const char *who = pg_get(rows, 0, "who");
	const char *people = who ? ask_people(rq, who) : NULL;
	if (people)
		rows = read_items(rq, in, people);
	reply_page(rq, rows, in->limit, in->offset);
}

/* Add the faults of `id` and `ids` together, before request_input(). Ids that are not known are no
 * fault. */
static void check_ids(struct request *rq)
{
	yyjson_val *ids = json_get(request_body(rq), "ids"), *id;
	size_t i, count;
	struct uuid parsed;
	if (request_has_member(rq, "id") == request_has_member(rq, "ids"))
		problem_add_field(rq->arena, &rq->problem, "ids", "give either id or ids");
	yyjson_arr_foreach (ids, i, count, id) {
		if (i < IDS_MAX && yyjson_get_len(id) > 0 &&
		    !uuid_parse(yyjson_get_str(id), yyjson_get_len(id), &parsed))
			problem_add_field(rq->arena, &rq->problem,
			                  arena_printf(rq->arena, "ids[%zu]", i), "must be a UUID");
	}
}

void inbox_dismiss(struct request *rq)
{
	check_ids(rq);
	struct dismiss_input *in = request_input(rq, struct dismiss_input, DISMISS_FIELDS);
	const char *ids = in->ids ? in->ids : arena_printf(rq->arena, "[\"%s\"]", in->id);
	struct pg_rows *rows =
		pg_query(rq, in->undo ? INBOX_RESTORE_SQL : INBOX_ARCHIVE_SQL,
	                 pg_uuid(rq->caller.account), pg_text(rq->caller.repo), pg_text(ids));
	reply_json(rq, 200, pg_json(rows));
}
