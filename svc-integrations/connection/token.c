#include "connection/token.h"

#include "base/json.h"
#include "base/log.h"
#include "connection/credentials.h"
#include "loop/wait.h"
#include "pg/pg.h"
#include "provider/oauth.h"
#include "service/input.h"
#include "service/resource.h"
#include "token.sql.h"

#include <string.h>

#define VALID_S 60 /* that a returned token has to live */

/* Longer than a call of the provider takes (oauth.c), so that a lease runs out only when its process is
 * gone or stopped. */
#define LEASE_S 20

#define WAIT_MS 100 /* between two looks at a refresh that another one makes */

struct token_input {
	const char *provider, *user;
};

static const struct field TOKEN_FIELDS[] = {
	PATH_TEXT(struct token_input, provider, "provider_name", 1, 64),
	QUERY_UUID(struct token_input, user, "user_id"),
	FIELD_END,
};

/* Columns of token_get. */
enum {
	TOKEN_ID,
	TOKEN_IS_ACTIVE,
	TOKEN_REASON,
	TOKEN_SEALED,
	TOKEN_TYPE,
	TOKEN_EXPIRES_AT,
	TOKEN_SCOPES,
	TOKEN_IS_VALID
};

/* Ask the provider under the fence, and store its answer. */
static void refresh_under(struct request *rq, struct arena *arena, const struct provider *provider,
                          const struct credentials_owner *owner, const char *fence,
                          const struct credentials *old)
{
	struct oauth_tokens tokens;
	const char *reason = "the provider gave no refresh token";
	enum oauth_outcome outcome =
		old->refresh_token
			? oauth_refresh(rq, provider, arena, old->refresh_token, &tokens, &reason)
			: OAUTH_REFUSED;
	if (outcome != OAUTH_DONE) {
		pg_query(rq, REFRESH_GIVE_UP_SQL, pg_text(owner->connection), pg_text(fence),
		         pg_text(outcome == OAUTH_REFUSED ? reason : NULL));
		log_warn(LOG_GROUP_APP, "token not refreshed", f_text("provider", provider->name),
		         f_text("connection", owner->connection), f_text("reason", reason));
		if (outcome == OAUTH_UNAVAILABLE)
			raise_error(rq, ERR_UNAVAILABLE, "%s", reason);
		return;
	}
	/* A provider that does not rotate refresh tokens leaves them out. */
	struct credentials fresh = {
		.access_token = tokens.access_token,
		.refresh_token = tokens.refresh_token ? tokens.refresh_token : old->refresh_token,
	};
	struct sealed sealed = credentials_seal(arena, owner, &fresh);
	pg_query(rq, REFRESH_STORE_SQL, pg_text(owner->connection), pg_text(fence),
	         pg_bytes(sealed.data, sealed.length), pg_text(tokens.token_type),
	         pg_int(tokens.expires_in_s), pg_text(tokens.scopes));
}

/* Refresh the token, or wait a moment for the one who does. */
static void refresh(struct request *rq, struct arena *arena, const struct provider *provider,
                    const struct credentials_owner *owner)
{
	struct pg_rows *rows = pg_query(rq, REFRESH_LEASE_SQL, pg_text(owner->connection),
	                                pg_int(VALID_S), pg_int(LEASE_S));
	if (pg_empty(rows)) {
		fiber_sleep(rq, WAIT_MS);
		return;
	}
	size_t length;
	const void *sealed = pg_value_bytes(arena, rows, 0, 1, &length);
	struct credentials old = credentials_open(rq, arena, owner, sealed, length);
	refresh_under(rq, arena, provider, owner, pg_value(rows, 0, 0), &old);
}

struct connection_token connection_token(struct request *rq, const struct uuid *account,
                                         const char *provider_name)
{
	const struct provider *provider = provider_get_oauth(rq, provider_name);
	struct arena *arena = credentials_arena(rq);
	struct credentials_owner owner = credentials_owner_new(rq, provider->name);
	owner.account = pg_uuid(*account).text;
	for (;;) {
		struct pg_rows *rows = pg_query(rq, TOKEN_GET_SQL, pg_text(owner.account),
		                                pg_text(provider->name), pg_int(VALID_S));
		require_row(rq, rows, "not connected");
		if (!pg_value_bool(rows, 0, TOKEN_IS_ACTIVE))
			raise_error(rq, ERR_CONFLICT, "the connection has expired: %s",
			            pg_value(rows, 0, TOKEN_REASON));
		owner.connection = pg_value(rows, 0, TOKEN_ID);
		if (!pg_value_bool(rows, 0, TOKEN_IS_VALID)) {
			refresh(rq, arena, provider, &owner);
			continue;
		}
		size_t length;
		const void *sealed = pg_value_bytes(arena, rows, 0, TOKEN_SEALED, &length);
		return (struct connection_token){
			.access_token =
				credentials_open(rq, arena, &owner, sealed, length).access_token,
			.token_type = pg_value(rows, 0, TOKEN_TYPE),
			.expires_at = pg_value(rows, 0, TOKEN_EXPIRES_AT),
			.scopes = pg_value(rows, 0, TOKEN_SCOPES),
		};
	}
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
	yyjson_mut_obj_add_str(doc, answer, "expires_at", token.expires_at);
	yyjson_mut_obj_add_val(doc, answer, "scopes", yyjson_mut_raw(doc, token.scopes));
	reply_is_secret(rq);
	reply_doc(rq, 200, doc);
}
