#include "connection/token.h"

#include "connection/credentials.h"
#include "connection/oauth_client.h"
#include "connection/revocation.h"
#include "input/input.h"
#include "json/json.h"
#include "loop/wait.h"
#include "observe/log.h"
#include "pg/pg.h"
#include "provider/oauth.h"
#include "reply/resource.h"
#include "request/audited.h"
#include "token.sql.h"

#include <stdlib.h>
#include <string.h>

#define VALID_S 60 /* that a returned token has to live */

/* A lease outlives the call of the provider by this, for storing the answer. */
#define STORE_MS 5000

/* Between two looks at a refresh. */
#define WAIT_MIN_MS 20
#define WAIT_MAX_MS 200

struct token_input {
	const char *provider, *user;
};

static const struct field TOKEN_FIELDS[] = {
	PATH_TEXT(struct token_input, provider, "provider_name", 1, 64),
	QUERY_UUID(struct token_input, user, "user_id"),
	FIELD_END,
};

/* What a refresh is about; its own memory, since it belongs to no client. */
struct refresh {
	char connection[UUID_TEXT_LEN + 1], account[UUID_TEXT_LEN + 1];
	const struct provider *provider;
	const char *fence;
};

/* End the refresh without a token. */
static void give_up(struct request *rq, const struct refresh *refresh, enum oauth_outcome outcome,
                    const char *reason)
{
	pg_query(rq, REFRESH_GIVE_UP_SQL, pg_text(refresh->connection), pg_text(refresh->fence),
	         pg_text(reason), pg_bool(outcome == OAUTH_REFUSED),
	         pg_bool(outcome == OAUTH_REFUSED_UNCLEARLY));
	log_warn("token not refreshed", f_text("provider", refresh->provider->name),
	         f_text("connection", refresh->connection), f_text("reason", reason));
}

/* Store the new tokens. The old ones are of no use any more, so a database that is away is waited
 * for. */
static void store(struct request *rq, struct arena *arena, const struct refresh *refresh,
                  const struct credentials_owner *owner, const struct oauth_tokens *tokens)
{
	const struct credentials fresh = {
		.access_token = tokens->access_token,
		.refresh_token = tokens->refresh_token,
	};
	struct sealed sealed = credentials_seal(arena, owner, &fresh);
	struct pg_rows *rows;
	enum err_code code;
	while ((code = pg_try(rq, &rows, NULL, REFRESH_STORE_SQL, pg_text(refresh->connection),
	                      pg_text(refresh->fence), pg_bytes(sealed.data, sealed.length),
	                      pg_text(tokens->token_type), pg_int(tokens->expires_in_s),
	                      pg_text(tokens->scopes)))) {
		if (!err_is_transient(code))
			pg_raise(rq, code);
		fiber_sleep(rq, WAIT_MAX_MS);
	}
	/* Disconnected meanwhile: the tokens that are revoked are the old ones. */
	if (!pg_value_bool(rows, 0))
		revocation_start(rq, arena, refresh->account, refresh->provider, &fresh);
}

/* Ask the provider under the fence, and store its answer. */
static void refresh_under(struct request *rq, struct arena *arena, const struct refresh *refresh,
                          const struct credentials_owner *owner, const struct credentials *old)
{
	struct oauth_tokens tokens;
	const char *reason = "the provider gave no refresh token";
	enum oauth_outcome outcome = OAUTH_REFUSED;
	if (old->refresh_token)
		outcome = oauth_refresh(rq, refresh->provider, arena, old->refresh_token, &tokens,
		                        &reason);
	if (outcome != OAUTH_DONE) {
		give_up(rq, refresh, outcome, reason);
		return;
	}
	/* A provider that does not rotate refresh tokens leaves them out. */
	if (!tokens.refresh_token)
		tokens.refresh_token = old->refresh_token;
	store(rq, arena, refresh, owner, &tokens);
}

/* One refresh, unless another one has the lease. */
static void refresh_run(struct request *rq)
{
	struct refresh *refresh = rq->user;
	struct pg_rows *rows = pg_query(rq, REFRESH_LEASE_SQL, pg_text(refresh->connection),
	                                pg_int(VALID_S), pg_int((int64_t)request_left_ms(rq)));
	/* A process that was stopped meanwhile may have lost the lease already. */
	if (pg_empty(rows) || request_left_ms(rq) < (uint64_t)oauth_timeout_ms())
		return;
	struct arena *arena = request_secrets_arena(rq);
	const struct credentials_owner owner = {
		.connection = refresh->connection,
		.account = refresh->account,
		.provider = refresh->provider->name,
	};
	refresh->provider = oauth_client_of(rq, refresh->provider);
	refresh->fence = pg_get(rows, 0, "refresh_fence");
	size_t length;
	const void *sealed = pg_get_bytes(arena, rows, 0, "sealed", &length);
	struct credentials old;
	if (credentials_try_open(arena, &owner, sealed, length, &old))
		refresh_under(rq, arena, refresh, &owner, &old);
	else
		give_up(rq, refresh, OAUTH_UNAVAILABLE, CREDENTIALS_UNREADABLE);
}

static void refresh_done(struct request *rq)
{
	struct refresh *refresh = rq->user;
	if (rq->problem.code)
		log_error("refresh of a token failed", f_text("provider", refresh->provider->name),
		          f_text("connection", refresh->connection),
		          f_text("problem", rq->problem.detail));
	free(refresh);
}

static void refresh_start(struct request *rq, const struct provider *provider,
                          const char *connection, const char *account)
{
	struct refresh *refresh = calloc(1, sizeof(*refresh));
	require(refresh);
	memcpy(refresh->connection, connection, UUID_TEXT_LEN);
	memcpy(refresh->account, account, UUID_TEXT_LEN);
	refresh->provider = provider_get(rq, provider->name); /* outlives the request */
	request_spawn(rq->worker, rq->id, (uint64_t)oauth_timeout_ms() + STORE_MS, refresh_run,
	              refresh_done, refresh);
}

/* Whether a token that is not valid any more can be used once: the refresh that gave it ended after
 * `fence_before`. */
static bool is_usable_once(const struct pg_rows *rows, int64_t fence_before)
{
	return pg_get_bool(rows, 0, "is_for_one_use") && pg_get_bool(rows, 0, "has_ended") &&
	       !pg_get(rows, 0, "refresh_fault") &&
	       pg_get_int(rows, 0, "refresh_fence") > fence_before;
}

/* Raise if the connection gives no token: it has expired, or a refresh has failed that ended after
 * `fence_before`, the newest one before the caller began to wait. */
static void check_refreshed(struct request *rq, const struct provider *provider,
                            const struct pg_rows *rows, int64_t fence_before)
{
	const char *fault = pg_get(rows, 0, "refresh_fault");
	if (!pg_get_bool(rows, 0, "is_active"))
		raise_error(rq, ERR_CONFLICT, "the connection has expired: %s",
		            pg_get(rows, 0, "reason"));
	if (pg_get_bool(rows, 0, "is_valid") || !pg_get_bool(rows, 0, "has_ended") ||
	    pg_get_int(rows, 0, "refresh_fence") <= fence_before ||
	    is_usable_once(rows, fence_before))
		return;
	if (fault)
		raise_error(rq, ERR_UNAVAILABLE, "the token could not be refreshed: %s", fault);
	raise_error(rq, ERR_UPSTREAM, "the tokens of %s live for less than %d seconds",
	            provider->name, VALID_S);
}

/* The row of a connection whose token is valid, after a refresh if one is needed. */
static struct pg_rows *wait_valid(struct request *rq, const struct provider *provider,
                                  const char *account)
{
	int64_t fence_before = -1;
	for (uint64_t wait_ms = WAIT_MIN_MS;; wait_ms = MIN_OF(2 * wait_ms, WAIT_MAX_MS)) {
		struct pg_rows *rows = pg_query(rq, TOKEN_GET_SQL, pg_text(account),
		                                pg_text(provider->name), pg_int(VALID_S));
		if (pg_empty(rows))
			raise_error(rq, ERR_NOT_FOUND, "%s is not connected", provider->name);
		bool is_leased = pg_get_bool(rows, 0, "is_leased");
		if (fence_before < 0)
			fence_before = pg_get_int(rows, 0, "refresh_fence") - is_leased;
		check_refreshed(rq, provider, rows, fence_before);
		if (pg_get_bool(rows, 0, "is_valid") || is_usable_once(rows, fence_before))
			return rows;
		if (!is_leased)
			refresh_start(rq, provider, pg_get(rows, 0, "id"), account);
		fiber_sleep(rq, wait_ms);
	}
}

struct connection_token connection_token(struct request *rq, const struct uuid *account,
                                         const char *provider_name)
{
	const struct provider *provider = oauth_client_get(rq, provider_name);
	struct credentials_owner owner = {
		.account = pg_uuid(*account).text,
		.provider = provider->name,
	};
	struct pg_rows *rows = wait_valid(rq, provider, owner.account);
	owner.connection = pg_get(rows, 0, "id");
	struct arena *arena = request_secrets_arena(rq);
	size_t length;
	const void *sealed = pg_get_bytes(arena, rows, 0, "sealed", &length);
	return (struct connection_token){
		.access_token = credentials_open(rq, arena, &owner, sealed, length).access_token,
		.token_type = pg_get(rows, 0, "token_type"),
		.expires_at = pg_get(rows, 0, "expires_at"),
		.scopes = pg_get(rows, 0, "scopes"),
	};
}

void connection_refused(struct request *rq, const char *provider)
{
	struct pg_rows *rows =
		pg_query(rq, TOKEN_REFUSED_SQL, pg_uuid(rq->caller.account), pg_text(provider));
	if (!pg_empty(rows) && pg_value_bool(rows, 0))
		return;
	raise_error(rq, ERR_UNAVAILABLE,
	            "%s does not accept the connection now; connect again if it still does not in "
	            "ten minutes",
	            provider);
}

void connection_accepted(struct request *rq, const char *provider)
{
	pg_query(rq, TOKEN_ACCEPTED_SQL, pg_uuid(rq->caller.account), pg_text(provider));
}

/* Whose token is asked for: the caller's own, or, for the operator's automation, that of `user`. */
static struct uuid account_of(struct request *rq, const char *user)
{
	struct uuid account = rq->caller.account;
	if (!user)
		return account;
	require(uuid_parse(user, strlen(user), &account));
	if (!uuid_equal(&account, &rq->caller.account))
		require_scope(rq, SCOPE_BIT_SERVICE_ANY_USER);
	return account;
}

void connection_token_get(struct request *rq)
{
	struct token_input *in = request_input(rq, struct token_input, TOKEN_FIELDS);
	struct uuid account = account_of(rq, in->user);
	struct connection_token token = connection_token(rq, &account, in->provider);
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *answer = yyjson_mut_obj(doc);
	yyjson_mut_doc_set_root(doc, answer);
	yyjson_mut_obj_add_str(doc, answer, "provider", in->provider);
	yyjson_mut_obj_add_str(doc, answer, "access_token", token.access_token);
	yyjson_mut_obj_add_str(doc, answer, "token_type", token.token_type);
	json_add_text(doc, answer, "expires_at", token.expires_at);
	yyjson_mut_obj_add_val(doc, answer, "scopes", yyjson_mut_raw(doc, token.scopes));
	audited_begin(rq); /* committed together with the answer */
	pg_query(rq, TOKEN_AUDIT_SQL, pg_uuid(account), pg_text(in->provider));
	reply_is_secret(rq);
	reply_doc(rq, 200, doc);
}
