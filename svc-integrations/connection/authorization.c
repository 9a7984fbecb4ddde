#include "connection/authorization.h"

#include "authorization.sql.h"
#include "base/timefmt.h"
#include "connection.sql.h"
#include "connection/connection.h"
#include "connection/credentials.h"
#include "connection/oauth_client.h"
#include "connection/revocation.h"
#include "crypto/crypto.h"
#include "input/input.h"
#include "json/json.h"
#include "pg/pg.h"
#include "provider/oauth.h"
#include "reply/resource.h"
#include "request/audited.h"

#include <string.h>

#define ATTEMPT_LIFETIME_S 600
#define STATE_LENGTH       43 /* 256 bits in base62 */
#define VERIFIER_LENGTH    64 /* RFC 7636 section 4.1: 43 to 128 */
#define CODE_MAX           4096
#define URI_MAX            2048

struct authorization_input {
	const char *provider;
	const char *code, *redirect_uri, *state;
};

static const struct field URL_FIELDS[] = {
	PATH_TEXT(struct authorization_input, provider, "provider_name", 1, 64),
	QUERY_TEXT(struct authorization_input, redirect_uri, "redirect_uri", OPTIONAL, 1, URI_MAX),
	FIELD_END,
};

static const struct field CALLBACK_FIELDS[] = {
	PATH_TEXT(struct authorization_input, provider, "provider_name", 1, 64),
	BODY_TEXT(struct authorization_input, code, "code", REQUIRED, 1, CODE_MAX),
	BODY_TEXT(struct authorization_input, redirect_uri, "redirect_uri", REQUIRED, 1, URI_MAX),
	BODY_TEXT(struct authorization_input, state, "state", NULLABLE, 1, 256),
	FIELD_END,
};

/* What the verifier is sealed for: the row of its attempt. */
static const char *context_of(struct request *rq, const void *state_hash)
{
	char hex[2 * SHA256_LEN + 1];
	hex_encode(state_hash, SHA256_LEN, hex);
	return arena_printf(rq->arena, "authorization_attempt %s", hex);
}

void authorization_url_get(struct request *rq)
{
	struct authorization_input *in = request_input(rq, struct authorization_input, URL_FIELDS);
	const struct provider *provider = oauth_client_get(rq, in->provider);
	const char *redirect_uri = provider_redirect_uri(rq, in->redirect_uri);
	char state[STATE_LENGTH + 1], verifier[VERIFIER_LENGTH + 1];
	random_base62(state, STATE_LENGTH);
	random_base62(verifier, VERIFIER_LENGTH);
	uint8_t hash[SHA256_LEN];
	sha256(state, STATE_LENGTH, hash);
	struct sealed sealed = vault_seal(rq->arena, context_of(rq, hash), verifier);
	struct pg_rows *rows = pg_query(rq, ATTEMPT_CREATE_SQL, pg_bytes(hash, sizeof(hash)),
	                                pg_uuid(rq->caller.account), pg_text(provider->name),
	                                pg_text(redirect_uri), pg_bytes(sealed.data, sealed.length),
	                                pg_int(ATTEMPT_LIFETIME_S));
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *answer = yyjson_mut_obj(doc);
	yyjson_mut_doc_set_root(doc, answer);
	yyjson_mut_obj_add_str(doc, answer, "auth_url",
	                       oauth_authorize_url(rq, provider, redirect_uri, state, verifier));
	yyjson_mut_obj_add_strcpy(doc, answer, "state", state);
	yyjson_mut_obj_add_str(doc, answer, "expires_at", pg_json(rows));
	reply_is_secret(rq);
	reply_doc(rq, 200, doc);
}

/* The attempt that a callback belongs to. */
struct attempt {
	const char *redirect_uri;
	const char *verifier;
};

/* Take the attempt of the state, or the newest one. Raises ERR_INVALID when there is none. */
static struct attempt take_attempt(struct request *rq, struct arena *arena,
                                   const struct provider *provider, const char *state)
{
	struct pg_rows *rows =
		pg_query(rq, ATTEMPT_TAKE_SQL, pg_uuid(rq->caller.account), pg_text(provider->name),
	                 state ? pg_sha256(state) : pg_null());
	if (pg_empty(rows))
		raise_field(
			rq, "state",
			"belongs to no attempt to connect of the last ten minutes; begin again");
	size_t hash_length, length;
	const void *taken = pg_get_bytes(rq->arena, rows, 0, "state_hash", &hash_length);
	const void *sealed = pg_get_bytes(rq->arena, rows, 0, "verifier", &length);
	const char *verifier = vault_open(arena, context_of(rq, taken), sealed, length);
	if (!verifier)
		raise_field(rq, "state", "cannot be used any more; begin again");
	return (struct attempt){.redirect_uri = pg_get(rows, 0, "redirect_uri"),
	                        .verifier = verifier};
}

/* Raise the failure of a call to the provider, naming the code if it was refused. */
static attr_noreturn void raise_outcome(struct request *rq, enum oauth_outcome outcome,
                                        const char *reason)
{
	if (outcome == OAUTH_REFUSED)
		raise_field(rq, "code", "was not accepted: %s", reason);
	raise_error(rq, ERR_UPSTREAM, "%s; nothing was connected", reason);
}

/* What the provider has granted. */
struct grant {
	const struct provider *provider;
	struct oauth_tokens tokens;
	struct oauth_user user;
	uint64_t began_ms; /* when the callback came */
};

static void revoke_grant(struct request *rq, struct arena *arena, const struct grant *grant)
{
	const struct credentials tokens = {
		.access_token = grant->tokens.access_token,
		.refresh_token = grant->tokens.refresh_token,
	};
	revocation_start(rq, arena, pg_uuid(rq->caller.account).text, grant->provider, &tokens);
}

/* Write the connection in a transaction that stays open. Without a row: the caller is no member of
 * the account any more. */
static enum err_code write_connection(struct request *rq, struct arena *arena,
                                      const struct grant *grant, struct pg_rows **ret_rows)
{
	const struct oauth_tokens *tokens = &grant->tokens;
	const struct oauth_user *user = &grant->user;
	struct credentials_owner owner = credentials_owner_new(rq, grant->provider->name);
	struct credentials credentials = {
		.access_token = tokens->access_token,
		.refresh_token = tokens->refresh_token,
	};
	struct sealed sealed = credentials_seal(arena, &owner, &credentials);
	const char *scopes = tokens->scopes ? tokens->scopes : grant->provider->oauth->scopes;
	/* One that cannot be refreshed is used until the provider refuses it. */
	int64_t expires_in_s =
		tokens->refresh_token ? tokens->expires_in_s : MAX_OF(tokens->expires_in_s, 0);
	audited_begin(rq);
	return pg_try(rq, ret_rows, NULL, CONNECTION_STORE_SQL, pg_text(owner.connection),
	              pg_text(owner.account), pg_text(grant->provider->name), pg_text(user->id),
	              pg_text(user->login), pg_text(user->email), pg_text(scopes),
	              pg_bytes(sealed.data, sealed.length), pg_text(tokens->token_type),
	              pg_int(expires_in_s), pg_null(), pg_bool(user->is_email_verified),
	              caller_key(rq), caller_person(rq),
	              pg_int((int64_t)(time_monotonic_ms() - grant->began_ms)));
}

/* Store the connection, which is committed together with the answer. */
static void store(struct request *rq, struct arena *arena, const struct grant *grant)
{
	struct pg_rows *rows;
	enum err_code code = write_connection(rq, arena, grant, &rows);
	if (!code && !pg_empty(rows)) {
		connection_reply(rq, grant->provider, pg_json(rows));
		return;
	}
	pg_rollback(rq);
	revoke_grant(rq, arena, grant);
	if (code) /* the account was deleted meanwhile, for example */
		pg_raise(rq, code);
	raise_error(rq, ERR_FORBIDDEN,
	            "you are no member of the account any more; nothing was connected");
}

void authorization_callback(struct request *rq)
{
	struct authorization_input *in =
		request_input(rq, struct authorization_input, CALLBACK_FIELDS);
	struct grant grant = {.provider = oauth_client_get(rq, in->provider)};
	struct arena *arena = request_secrets_arena(rq);
	grant.began_ms = time_monotonic_ms();
	struct attempt attempt = take_attempt(rq, arena, grant.provider, in->state);
	if (strcmp(attempt.redirect_uri, in->redirect_uri) != 0)
		raise_field(rq, "redirect_uri", "is not the one that the attempt began with");
	const char *reason;
	enum oauth_outcome outcome =
		oauth_exchange(rq, grant.provider, arena, in->code, in->redirect_uri,
	                       attempt.verifier, &grant.tokens, &reason);
	if (outcome != OAUTH_DONE)
		raise_outcome(rq, outcome, reason);
	outcome =
		oauth_user_get(rq, grant.provider, grant.tokens.access_token, &grant.user, &reason);
	if (outcome != OAUTH_DONE) {
		revoke_grant(rq, arena, &grant);
		raise_outcome(rq, outcome, reason);
	}
	store(rq, arena, &grant);
}
