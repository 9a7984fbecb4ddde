#include "session/session.h"

#include "base/timefmt.h"
#include "base/utf8.h"
#include "gateway_process.h"
#include "input/input.h"
#include "key/key_check.h"
#include "key/key_text.h"
#include "key/rate_limit.h"
#include "observe/log.h"
#include "pg/pg.h"
#include "reply/reply.h"
#include "request/http_request.h"
#include "service/process.h"
#include "session.sql.h"
#include "session/cookie.h"

#include <string.h>

#define LIST_DEFAULT   50
#define LIST_MAX       200
#define USER_AGENT_MAX 200 /* characters that are kept */

struct session_input {
	const char *key, *id;
	int64_t limit, offset;
};

static const struct field LOGIN_FIELDS[] = {
	BODY_TEXT(struct session_input, key, "key", REQUIRED, 1, 200),
	FIELD_END,
};

static const struct field LIST_FIELDS[] = {
	QUERY_LIMIT(struct session_input, limit, LIST_DEFAULT, LIST_MAX),
	QUERY_OFFSET(struct session_input, offset),
	FIELD_END,
};

static const struct field ID_FIELDS[] = {
	PATH_UUID(struct session_input, id, "session_id"),
	FIELD_END,
};

static const struct gateway_process *gateway_of(const struct request *rq)
{
	return rq->worker->process->user;
}

static struct pg_param hash_param(struct request *rq, const char *text)
{
	uint8_t hash[SHA256_LEN];
	key_text_hash(text, hash);
	return pg_bytes(arena_memdup(rq->arena, hash, sizeof(hash)), sizeof(hash));
}

/* --- Log-in ----------------------------------------------------------------------------------- */

/* An attempt takes from what its client may look up of unknown keys; a valid key gives it back. */
static struct uuid take_attempt(struct request *rq, const char *client)
{
	struct uuid bucket = rate_client_bucket(client);
	if (!rate_limiter_take(gateway_of(rq)->lookups, &bucket, time_monotonic_us()).is_allowed) {
		rq->problem.retry_after_s = 1;
		raise_error(rq, ERR_RATE_LIMITED, "too many unknown keys from this address");
	}
	return bucket;
}

static void set_cookie(struct request *rq, const char *value, const char *more)
{
	const struct cookie_rules *rules = &gateway_of(rq)->cookies;
	reply_header(rq, "Set-Cookie", "%s=%s%s%s", rules->name, value, rules->attributes, more);
}

/* The start of what the browser calls itself; null: nothing that is text. */
static struct pg_param user_agent(struct request *rq)
{
	const char *agent = http_head_get(&rq->http->head, "User-Agent");
	if (!agent || !utf8_is_valid(agent, strlen(agent)))
		return pg_null();
	return pg_text(utf8_shorten(rq->arena, agent, USER_AGENT_MAX));
}

void session_create(struct request *rq)
{
	struct session_input *in = request_input(rq, struct session_input, LOGIN_FIELDS);
	const char *client = rq->http->exchange ? rq->http->exchange->peer : "";
	struct uuid attempt = take_attempt(rq, client);
	if (!key_text_is_valid(in->key))
		raise_error(rq, ERR_UNAUTHENTICATED, "this is not a valid key");
	char *token = session_text_new(rq->arena);
	pg_begin(rq);
	struct pg_rows *rows = pg_query(rq, SESSION_CREATE_SQL, hash_param(rq, in->key),
	                                hash_param(rq, token), pg_text(client), user_agent(rq));
	if (pg_empty(rows))
		raise_error(rq, ERR_UNAUTHENTICATED, "this is not a valid key");
	key_change_commit(rq); /* the oldest session may have ended */
	rate_limiter_return(gateway_of(rq)->lookups, &attempt);
	set_cookie(rq, token, "");
	reply_is_secret(rq);
	reply_json(rq, 200, pg_json(rows));
}

/* --- The session of a cookie ------------------------------------------------------------------ */

/* The token of the request's cookie. These operations need no key, so nobody has checked it. */
static const char *require_token(struct request *rq)
{
	const struct cookie_rules *rules = &gateway_of(rq)->cookies;
	const struct http_head *head = &rq->http->head;
	const char *token = cookie_read(rules, rq->arena, head);
	if (!token || !session_text_is_valid(token))
		raise_error(rq, ERR_UNAUTHENTICATED, "there is no session");
	enum err_code code = cookie_permit(rules, head, rq->http->op);
	if (code)
		raise_error(rq, code, "%s", err_info(code)->detail);
	return token;
}

void session_get(struct request *rq)
{
	request_input_none(rq);
	struct pg_rows *rows = pg_query(rq, SESSION_READ_SQL, hash_param(rq, require_token(rq)));
	if (pg_empty(rows))
		raise_error(rq, ERR_UNAUTHENTICATED, "the session has ended");
	reply_is_secret(rq);
	reply_json(rq, 200, pg_json(rows));
}

void session_delete(struct request *rq)
{
	request_input_none(rq);
	struct pg_param hash = hash_param(rq, require_token(rq));
	pg_begin(rq);
	struct pg_rows *rows = pg_query(rq, SESSION_REMOVE_SQL, hash);
	key_change_commit(rq);
	if (pg_empty(rows))
		raise_error(rq, ERR_UNAUTHENTICATED, "the session has ended");
	set_cookie(rq, "", "; Max-Age=0");
	reply_header(rq, "Clear-Site-Data", "\"cache\", \"storage\"");
	reply_json(rq, 200, pg_json(rows));
}

/* --- The sessions of an account --------------------------------------------------------------- */

void session_list(struct request *rq)
{
	struct session_input *in = request_input(rq, struct session_input, LIST_FIELDS);
	const char *token = cookie_read(&gateway_of(rq)->cookies, rq->arena, &rq->http->head);
	struct pg_rows *rows = pg_query(rq, SESSIONS_LIST_SQL, pg_uuid(rq->caller.account),
	                                token ? hash_param(rq, token) : pg_null(),
	                                pg_int(in->limit), pg_int(in->offset));
	reply_page(rq, rows, in->limit, in->offset);
}

void session_end(struct request *rq)
{
	struct session_input *in = request_input(rq, struct session_input, ID_FIELDS);
	pg_begin(rq);
	struct pg_rows *rows =
		pg_query(rq, SESSION_END_SQL, pg_text(in->id), pg_uuid(rq->caller.account));
	if (pg_empty(rows))
		raise_error(rq, ERR_NOT_FOUND, "no such session");
	key_change_commit(rq);
	log_info(LOG_GROUP_APP, "session ended", f_text("session_id", in->id));
	reply_json(rq, 200, pg_json(rows));
}
