#include "notify/message_delivery.h"

#include "input/input.h"
#include "message_delivery.sql.h"
#include "notify/message.h"
#include "pg/pg.h"
#include "reply/resource.h"

struct delivery_input {
	const char *endpoint, *id;
	const char *status, *type, *since, *until;
	int64_t limit, offset;
};

static const char NO_ENDPOINT[] = "no such webhook";
static const char NO_DELIVERY[] = "no such delivery of this webhook";
static const char *const STATUSES[] = {"pending", "delivered", "failed", "dropped", NULL};

static const struct field LIST_FIELDS[] = {
	PATH_UUID(struct delivery_input, endpoint, "webhook_id"),
	QUERY_ENUM(struct delivery_input, status, "status", STATUSES),
	QUERY_TEXT(struct delivery_input, type, "type", OPTIONAL, 1, 64),
	QUERY_TIME(struct delivery_input, since, "since"),
	QUERY_TIME(struct delivery_input, until, "until"),
	QUERY_LIMIT(struct delivery_input, limit, 20, 100),
	QUERY_OFFSET(struct delivery_input, offset),
	FIELD_END,
};

static const struct field ID_FIELDS[] = {
	PATH_UUID(struct delivery_input, endpoint, "webhook_id"),
	PATH_UUID(struct delivery_input, id, "delivery_id"),
	FIELD_END,
};

static const struct field RECOVER_FIELDS[] = {
	PATH_UUID(struct delivery_input, endpoint, "webhook_id"),
	BODY_TIME(struct delivery_input, since, "since", REQUIRED),
	BODY_TIME(struct delivery_input, until, "until", OPTIONAL),
	FIELD_END,
};

void message_delivery_list(struct request *rq)
{
	struct delivery_input *in = request_input(rq, struct delivery_input, LIST_FIELDS);
	struct pg_rows *rows = pg_query(rq, MESSAGE_DELIVERY_LIST_SQL, pg_text(in->endpoint),
	                                pg_uuid(rq->caller.account), pg_text(in->status),
	                                pg_text(in->type), pg_text(in->since), pg_text(in->until),
	                                pg_int(in->limit), pg_int(in->offset));
	require_row(rq, rows, NO_ENDPOINT);
	reply_page(rq, rows, in->limit, in->offset);
}

void message_delivery_get(struct request *rq)
{
	struct delivery_input *in = request_input(rq, struct delivery_input, ID_FIELDS);
	reply_one(rq, 200,
	          pg_query(rq, MESSAGE_DELIVERY_GET_SQL, pg_text(in->endpoint),
	                   pg_uuid(rq->caller.account), pg_text(in->id)),
	          NO_DELIVERY);
}

void message_delivery_replay(struct request *rq)
{
	struct delivery_input *in = request_input(rq, struct delivery_input, ID_FIELDS);
	reply_one(rq, 200,
	          pg_query(rq, MESSAGE_DELIVERY_AGAIN_SQL, pg_text(in->endpoint),
	                   pg_uuid(rq->caller.account), pg_text(in->id)),
	          NO_DELIVERY);
}

void message_delivery_recover(struct request *rq)
{
	struct delivery_input *in = request_input(rq, struct delivery_input, RECOVER_FIELDS);
	reply_one(rq, 200,
	          pg_query(rq, MESSAGE_DELIVERY_RECOVER_SQL, pg_text(in->endpoint),
	                   pg_uuid(rq->caller.account), pg_text(in->since), pg_text(in->until),
	                   pg_int(MESSAGES_WAITING_MAX)),
	          NO_ENDPOINT);
}
