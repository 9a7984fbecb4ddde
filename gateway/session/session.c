#include "session/session.h"

#include "audit/audit.h"
#include "base/timefmt.h"
#include "crypto/scope.h"
#include "gateway_process.h"
#include "input/input.h"
#include "json/json.h"
#include "key/key_change.h"
#include "key/key_text.h"
#include "key/role.h"
#include "limit/rate_limit.h"
#include "observe/log.h"
#include "pacing/client_id.h"
#include "pg/pg.h"
#include "reply/reply.h"
#include "reply/resource.h"
#include "request/http_request.h"
#include "service/process.h"
#include "session.sql.h"
#include "session/cookie.h"

#include <string.h>

#define LIST_DEFAULT 20
#define LIST_MAX     100

static bool key_login;

const struct setting SESSION_SETTINGS[] = {
	SETTING_BOOL(
		&key_login, "SESSION_KEY_LOGIN", "true",
		"Whether people may log in with a key; false, where there is OIDC_ISSUER: only "
		"operators."),
	SETTING_END,
};

struct session_input {
	const char *key, *id, *account;
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

static const struct field SHOW_FIELDS[] = {
	BODY_UUID(struct session_input, account, "account_id", REQUIRED),
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

/* Reply with a session, whose scopes are those that the person's role leaves of it. What only an
 * operator's key can have, its person may. */
static void reply_session(struct request *rq, yyjson_val *session)
{
	uint64_t allowed = role_scopes(json_get_text(session, "role"), true);
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *root = yyjson_val_mut_copy(doc, session);
	yyjson_mut_val *scopes = yyjson_mut_arr(doc);
	size_t index, count;
	yyjson_val *scope;
	yyjson_arr_foreach (json_get(session, "scopes"), index, count, scope)
		if (scope_mask(yyjson_get_str(scope)) & allowed)
			yyjson_mut_arr_append(scopes, yyjson_val_mut_copy(doc, scope));
	yyjson_mut_obj_put(root, yyjson_mut_str(doc, "scopes"), scopes);
	yyjson_mut_doc_set_root(doc, root);
	reply_is_secret(rq);
	reply_doc(rq, 200, doc);
}

bool session_takes_keys(void)
{
	return key_login;
}

/* --- Log-in ----------------------------------------------------------------------------------- */

struct uuid session_attempt_take(struct request *rq)
{
	const struct http_exchange *x = rq->http->exchange;
	struct uuid bucket = client_id(x ? x->peer : "");
	if (!rate_limiter_take(gateway_of(rq)->lookups, &bucket, time_monotonic_us()).is_allowed)
		raise_retry_later(rq, ERR_RATE_LIMITED, 1,
		                  "too many unknown keys from this address");
	return bucket;
}

void session_attempt_return(struct request *rq, const struct uuid *attempt)
{
	rate_limiter_return(gateway_of(rq)->lookups, attempt);
}

void session_set_cookie(struct request *rq, const char *token, const char *more)
{
	const struct cookie_rules *rules = &gateway_of(rq)->cookies;
	reply_header(rq, "Set-Cookie", "%s=%s%s%s", rules->name, token, rules->attributes, more);
}

/* Note that a log-in was refused, if the key is somebody's. */
static void note_refused(struct request *rq, const char *key, const char *reason)
{
	audit_begin(rq);
	pg_query(rq, SESSION_REFUSED_SQL, hash_param(rq, key), pg_text(reason));
	pg_commit(rq);
}

/* Where people log in at a provider only, an operator still may, when the provider is away. */
static void require_key_login(struct request *rq, const char *key)
{
	if (key_login)
		return;
	struct pg_rows *rows = pg_query(rq, SESSION_OPERATOR_SQL, hash_param(rq, key));
	if (!pg_empty(rows) && pg_value_bool(rows, 0))
		return;
	note_refused(rq, key, "key_login");
	raise_error(rq, ERR_FORBIDDEN,
	            "log in at the provider; only an operator may log in with a key");
}

void session_create(struct request *rq)
{
	struct session_input *in = request_input(rq, struct session_input, LOGIN_FIELDS);
	struct audit_client client = audit_client_of(rq);
	struct uuid attempt = session_attempt_take(rq);
	if (!key_text_is_valid(in->key))
		raise_error(rq, ERR_UNAUTHENTICATED, "this is not a valid key");
	require_key_login(rq, in->key);
	char *token = session_text_new(rq->arena);
	audit_begin(rq);
	struct pg_rows *rows = pg_query(rq, SESSION_CREATE_SQL, hash_param(rq, in->key),
	                                hash_param(rq, token), client.address, client.user_agent);
	if (pg_empty(rows)) {
		pg_rollback(rq);
		note_refused(rq, in->key, "key");
		raise_error(rq, ERR_UNAUTHENTICATED, "this is not a valid key");
	}
	yyjson_val *session = json_parse_own(rq->arena, pg_json(rows));
	key_change_commit(rq); /* the oldest session may have ended */
	session_attempt_return(rq, &attempt);
	session_set_cookie(rq, token, "");
	reply_session(rq, session);
}

/* --- The session of a cookie ------------------------------------------------------------------ */

struct pg_param session_require(struct request *rq)
{
	const struct cookie_rules *rules = &gateway_of(rq)->cookies;
	const struct http_head *head = &rq->http->head;
	const char *token = cookie_read(rules, rq->arena, head);
	if (!token || !session_text_is_valid(token))
		raise_error(rq, ERR_UNAUTHENTICATED, "there is no session");
	enum err_code code = cookie_permit(rules, head, rq->http->op);
	if (code)
		raise_error(rq, code, "%s", err_info(code)->detail);
	return hash_param(rq, token);
}

bool session_is_used(struct request *rq)
{
	return cookie_read(&gateway_of(rq)->cookies, rq->arena, &rq->http->head);
}

void session_get(struct request *rq)
{
	request_input_none(rq);
	struct pg_rows *rows = pg_query(rq, SESSION_READ_SQL, session_require(rq));
	if (pg_empty(rows))
		raise_error(rq, ERR_UNAUTHENTICATED, "the session has ended");
	reply_session(rq, json_parse_own(rq->arena, pg_json(rows)));
}

void session_show(struct request *rq)
{
	struct session_input *in = request_input(rq, struct session_input, SHOW_FIELDS);
	struct pg_param hash = session_require(rq);
	audit_begin(rq);
	struct pg_rows *rows = pg_query(rq, SESSION_SHOW_ACCOUNT_SQL, hash, pg_text(in->account));
	if (pg_empty(rows))
		raise_error(rq, ERR_UNAUTHENTICATED, "the session has ended");
	if (!pg_value(rows, 0))
		raise_error(rq, ERR_NOT_FOUND, "no such account of yours");
	yyjson_val *session = json_parse_own(rq->arena, pg_json(rows));
	key_change_commit(rq);
	reply_session(rq, session);
}

void session_delete(struct request *rq)
{
	request_input_none(rq);
	struct pg_param hash = session_require(rq);
	audit_begin(rq);
	struct pg_rows *rows = pg_query(rq, SESSION_REMOVE_SQL, hash);
	if (pg_empty(rows))
		raise_error(rq, ERR_UNAUTHENTICATED, "the session has ended");
	key_change_commit(rq);
	session_set_cookie(rq, "", "; Max-Age=0");
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
	                                pg_int(in->limit), pg_int(in->offset), caller_key(rq));
	reply_page(rq, rows, in->limit, in->offset);
}

void session_end(struct request *rq)
{
	struct session_input *in = request_input(rq, struct session_input, ID_FIELDS);
	audit_begin(rq);
	struct pg_rows *rows = pg_query(rq, SESSION_END_SQL, pg_text(in->id),
	                                pg_uuid(rq->caller.account), caller_key(rq));
	if (pg_empty(rows))
		raise_error(rq, ERR_NOT_FOUND, "no such session");
	key_change_commit(rq);
	log_info("session ended", f_text("session_id", in->id));
	reply_json(rq, 200, pg_json(rows));
}
