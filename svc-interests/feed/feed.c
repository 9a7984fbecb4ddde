#include "feed/feed.h"

#include "crypto/crypto.h"
#include "feed.sql.h"
#include "feed/atom.h"
#include "input/input.h"
#include "json/json.h"
#include "observe/log.h"
#include "pg/pg.h"
#include "reply/etag.h"
#include "reply/resource.h"
#include "request/audited.h"
#include "service/process.h"

#include <string.h>

#define TOKEN_BYTES 32
#define TOKEN_LEN   43 /* in base64url */

#define MAX_AGE_S 900

struct feed_input {
	const char *id, *token, *interest;
	int64_t limit, offset;
};

static const struct field CREATE_FIELDS[] = {
	BODY_INTEREST(struct feed_input, interest),
	JSON_FLOAT("min_score", NULLABLE, 0, 1),
	READ_ONLY("id"),
	READ_ONLY("person_id"),
	READ_ONLY("created_at"),
	FIELD_END,
};

static const struct field LIST_FIELDS[] = {
	QUERY_LIMIT(struct feed_input, limit, 20, 100),
	QUERY_OFFSET(struct feed_input, offset),
	FIELD_END,
};

static const struct field ID_FIELDS[] = {
	PATH_UUID(struct feed_input, id, "feed_id"),
	FIELD_END,
};

static const struct field TOKEN_FIELDS[] = {
	PATH_TEXT(struct feed_input, token, "token", 1, 200),
	FIELD_END,
};

static const struct constraint CONSTRAINTS[] = {
	{"feed_max", ERR_CONFLICT, NULL, "an account may have 20 feeds; delete one first"},
	{"feed_maker_gone", ERR_FORBIDDEN, NULL, "you are no member of the account any more"},
	{0},
};

/* The address of a feed. In the arena. */
static const char *address_of(struct request *rq, const char *token)
{
	if (!process_settings.public_url[0])
		raise_error(rq, ERR_NOT_CONFIGURED, "PUBLIC_URL is not set");
	return arena_printf(rq->arena, "%s/api/v1.0/feeds/%s", process_settings.public_url, token);
}

void feed_create(struct request *rq)
{
	struct feed_input *in = request_input(rq, struct feed_input, CREATE_FIELDS);
	uint8_t bytes[TOKEN_BYTES];
	random_bytes(bytes, sizeof(bytes));
	const char *token = base64url_encode(rq->arena, bytes, sizeof(bytes));
	const char *url = address_of(rq, token);
	audited_begin(rq); /* committed together with the answer */
	struct pg_rows *rows =
		pg_write(rq, CONSTRAINTS, FEED_CREATE_SQL, pg_uuid(rq->caller.account),
	                 pg_text(in->interest), pg_text(request_body_json(rq)), pg_sha256(token),
	                 pg_text(url), caller_key(rq), caller_person(rq));
	reply_is_secret(rq);
	reply_one(rq, 201, rows, "no such interest");
}

void feed_list(struct request *rq)
{
	struct feed_input *in = request_input(rq, struct feed_input, LIST_FIELDS);
	struct pg_rows *rows = pg_query(rq, FEED_LIST_SQL, pg_uuid(rq->caller.account),
	                                pg_int(in->limit), pg_int(in->offset));
	reply_page(rq, rows, in->limit, in->offset);
}

void feed_delete(struct request *rq)
{
	struct feed_input *in = request_input(rq, struct feed_input, ID_FIELDS);
	audited_begin(rq);
	struct pg_rows *rows =
		pg_query(rq, FEED_DELETE_SQL, pg_uuid(rq->caller.account), pg_text(in->id));
	require_row(rq, rows, "no such feed");
	pg_commit(rq);
	log_always("feed deleted", f_text("feed_id", in->id));
	reply_json(rq, 200, pg_json(rows));
}

void feed_maker_gone(struct request *rq, const struct event *event)
{
	pg_query(rq, FEED_MAKER_GONE_SQL, pg_text(event->account),
	         pg_text(json_write(rq->arena, event->data, NULL)));
}

/* Whether the client has this version, by the time that it was given (RFC 9110, section 13.1.3): a
 * feed reader repeats the text of Last-Modified. An If-None-Match goes before it. */
static bool is_known(struct request *rq, const char *last_modified)
{
	const struct http_head *head = &rq->http->head;
	const char *since = http_head_get(head, "If-Modified-Since");
	return last_modified && since && !http_head_get(head, "If-None-Match") &&
	       strcmp(since, last_modified) == 0;
}

void feed_get(struct request *rq)
{
	struct feed_input *in = request_input(rq, struct feed_input, TOKEN_FIELDS);
	if (strlen(in->token) != TOKEN_LEN)
		raise_error(rq, ERR_NOT_FOUND, "no such feed");
	struct atom_feed feed = atom_feed_get(rq, pg_sha256(in->token));
	if (feed.last_modified)
		reply_header(rq, "Last-Modified", "%s", feed.last_modified);
	reply_header(rq, "Cache-Control", "private, max-age=%d", MAX_AGE_S);
	if (is_known(rq, feed.last_modified))
		etag_reply_unchanged(rq);
	size_t length;
	const char *xml = atom_write(rq, &feed, process_settings.public_url,
	                             address_of(rq, in->token), &length);
	reply_content(rq, 200, "application/atom+xml; charset=utf-8", xml, length);
}
