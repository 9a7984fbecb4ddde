#include "agent/agent.h"
#include "base/json.h"
#include "installation.sql.h"
#include "pg/pg.h"
#include "service/input.h"
#include "service/reply.h"
#include "service/resource.h"

struct list_input {
	int64_t limit, offset;
};

static const struct field LIST_FIELDS[] = {
	QUERY_LIMIT(struct list_input, limit, 20, 100),
	QUERY_OFFSET(struct list_input, offset),
	FIELD_END,
};

static const struct field RECORD_FIELDS[] = {
	JSON_TEXT("repo", REQUIRED, 3, 200),
	JSON_TEXT("agent", REQUIRED, 1, 100),
	JSON_TEXT("provider", NULLABLE, 1, 100),
	JSON_UUID("interest_id", NULLABLE),
	JSON_UUID("key_id", REQUIRED),
	JSON_URL("setup_url", NULLABLE),
	JSON_BOOL("model_key_missing", NULLABLE),
	FIELD_END,
};

void installation_list(struct request *rq)
{
	struct list_input *in = request_input(rq, struct list_input, LIST_FIELDS);
	struct pg_rows *rows =
		pg_query(rq, INSTALLATION_LIST_SQL, pg_uuid(rq->caller.account),
	                 pg_text(rq->caller.repo), pg_int(in->limit), pg_int(in->offset));
	reply_page(rq, pg_json(rows), pg_value_int(rows, 0, 1), in->limit, in->offset);
}

void installation_record(struct request *rq)
{
	request_input(rq, struct list_input, RECORD_FIELDS);
	reply_one(rq, 200,
	          pg_query(rq, INSTALLATION_RECORD_SQL, pg_uuid(rq->caller.account),
	                   pg_text(request_body_json(rq))),
	          "no such account");
}

void installation_key_revoked(struct request *rq, const struct event *event)
{
	const char *key = json_get_text(event->data, "key_id");
	if (!key)
		raise_error(rq, ERR_INVALID, "the event names no key");
	pg_query(rq, INSTALLATION_REVOKE_KEY_SQL, pg_text(event->account), pg_text(key));
}
