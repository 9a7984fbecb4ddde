#include "notify/endpoint_test.h"

#include "base/timefmt.h"
#include "input/input.h"
#include "json/json.h"
#include "message_delivery.sql.h"
#include "notify/attempt.h"
#include "notify/endpoint/endpoint_kind.h"
#include "notify/endpoint/event_type.h"
#include "notify/message.h"
#include "pg/pg.h"
#include "reply/resource.h"

#include <string.h>

struct test_input {
	const char *id, *type;
};

static const struct field TEST_FIELDS[] = {
	PATH_UUID(struct test_input, id, "webhook_id"),
	BODY_TEXT(struct test_input, type, "type", OPTIONAL, 1, 64),
	FIELD_END,
};

static const char *make_body(struct request *rq, const struct sending *sending, const char *type)
{
	yyjson_val *data = event_type_example(rq->arena, type);
	if (!data)
		raise_field(rq, "type", "is no type of messages");
	struct message_parts parts = {
		.id = sending->message,
		.type = type,
		.at_ms = time_now_ms(),
		.account = sending->account,
		.data = data,
	};
	return message_body(rq->arena, &parts);
}

static void reply_outcome(struct request *rq, const struct outcome *outcome)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *answer = yyjson_mut_obj(doc);
	yyjson_mut_doc_set_root(doc, answer);
	yyjson_mut_obj_add_bool(doc, answer, "delivered", outcome->is_delivered);
	yyjson_mut_obj_add_val(doc, answer, "status",
	                       outcome->status ? yyjson_mut_int(doc, outcome->status)
	                                       : yyjson_mut_null(doc));
	yyjson_mut_obj_add_uint(doc, answer, "duration_ms", outcome->duration_ms);
	json_add_text(doc, answer, "response", outcome->status ? outcome->response : NULL);
	json_add_text(doc, answer, "error", outcome->error[0] ? outcome->error : NULL);
	reply_doc(rq, 200, doc);
}

/* Whoever has not confirmed the address of a mail, or has unsubscribed, gets no test either. */
static void require_open(struct request *rq, const struct pg_rows *endpoint,
                         struct pg_param account)
{
	if (endpoint_kind_of(pg_get(endpoint, 0, "kind")) != ENDPOINT_EMAIL)
		return;
	if (pg_get_bool(endpoint, 0, "is_silent"))
		raise_error(rq, ERR_CONFLICT, "the address is not confirmed");
	struct pg_rows *taken = pg_query(rq, MESSAGE_DELIVERY_EMAIL_TAKE_SQL, account);
	if (!pg_value_bool(taken, 0))
		raise_error(rq, ERR_CONFLICT, "the account has had its mails of today");
}

void endpoint_test(struct request *rq)
{
	struct test_input *in = request_input(rq, struct test_input, TEST_FIELDS);
	struct outcome *outcome = arena_new_of(rq->arena, struct outcome);
	struct pg_param account = pg_uuid(rq->caller.account);
	struct pg_rows *rows =
		pg_query(rq, MESSAGE_DELIVERY_ENDPOINT_SQL, pg_text(in->id), account);
	require_row(rq, rows, "no such webhook");
	require_open(rq, rows, account);
	struct sending sending = {
		.endpoint = in->id,
		.account = account.text,
		.kind = pg_get(rows, 0, "kind"),
		.url = pg_get(rows, 0, "url"),
		.name = pg_get(rows, 0, "name"),
		.message = pg_uuid(uuid_new()).text,
		.delivery = pg_uuid(uuid_new()).text,
	};
	sending.body = make_body(rq, &sending, in->type ? in->type : "test.ping");
	sending.secret = pg_get_bytes(rq->arena, rows, 0, "secret", &sending.secret_length);
	sending.old_secret =
		pg_get_bytes(rq->arena, rows, 0, "old_secret", &sending.old_secret_length);
	attempt_make(rq, &sending, outcome);
	reply_outcome(rq, outcome);
}
