#include "agent/agent.h"
#include "client/service_ask.h"
#include "input/input.h"
#include "input/key_limit.h"
#include "installation.sql.h"
#include "pg/pg.h"
#include "reply/reply.h"
#include "reply/resource.h"
#include "request/audited.h"

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
	reply_page(rq, rows, in->limit, in->offset);
}

void installation_record(struct request *rq)
{
	request_input(rq, struct list_input, RECORD_FIELDS);
	reply_one(rq, 200,
	          pg_query(rq, INSTALLATION_RECORD_SQL, pg_uuid(rq->caller.account),
	                   pg_text(request_body_json(rq))),
	          "no such account");
}

/* How often a key is revoked that provisioning replaces at the same time. */
#define REVOKE_TRIES 5

struct revoke_input {
	const char *id;
};

static const struct field REVOKE_FIELDS[] = {
	PATH_UUID(struct revoke_input, id, "installation_id"),
	FIELD_END,
};

/* Revoke the key at the gateway. A key that the gateway does not know is no reason to call the
 * agent revoked, unless the key was over before, so that the gateway has forgotten it since. */
static void revoke_key(struct request *rq, const char *key, bool is_over)
{
	const char *body =
		arena_printf(rq->arena, "{\"key_id\": \"%s\", \"by\": %s}", key, audited_by(rq));
	struct service_answer answer =
		service_ask_try(rq, INTERNAL_ID_provisioned_key_revoke, body, NULL);
	if (answer.code == ERR_NOT_FOUND)
		answer.code = is_over ? ERR_NONE : ERR_UPSTREAM;
	if (answer.code)
		service_answer_raise(rq, &answer);
}

void installation_revoke(struct request *rq)
{
	struct revoke_input *in = request_input(rq, struct revoke_input, REVOKE_FIELDS);
	struct pg_param account = pg_uuid(rq->caller.account);
	for (int i = 0; i < REVOKE_TRIES; i++) {
		struct pg_rows *found =
			pg_query(rq, INSTALLATION_FIND_SQL, account, pg_text(in->id));
		require_row(rq, found, "no such installation");
		require_repo_of(rq, pg_get(found, 0, "repo"), "no such installation");
		require_interest(rq, pg_get(found, 0, "interest_id"));
		const char *key = pg_get(found, 0, "key_id");
		revoke_key(rq, key, pg_get_bool(found, 0, "is_over"));
		audited_begin(rq);
		struct pg_rows *revoked = pg_query(rq, INSTALLATION_REVOKE_SQL, account,
		                                   pg_text(in->id), pg_text(key));
		pg_commit(rq);
		if (!pg_empty(revoked)) {
			reply_json(rq, 200, pg_json(revoked));
			return;
		}
	}
	raise_error(rq, ERR_UNAVAILABLE, "the agent is being provisioned; try again");
}

void installation_key_revoked(struct request *rq, const struct event *event)
{
	pg_query(rq, INSTALLATION_REVOKE_KEY_SQL, pg_text(event->account),
	         pg_text(event_require_text(rq, event, "key_id")));
}

void installation_key_replaced(struct request *rq, const struct event *event)
{
	pg_query(rq, INSTALLATION_REPLACE_KEY_SQL, pg_text(event->account),
	         pg_text(event_require_text(rq, event, "key_id")),
	         pg_text(event_require_text(rq, event, "by")));
}
