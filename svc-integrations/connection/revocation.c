#include "connection/revocation.h"

#include "connection/oauth_client.h"
#include "json/json.h"
#include "observe/log.h"
#include "pg/pg.h"
#include "provider/oauth.h"
#include "revocation.sql.h"

/* Store what a refresh has given in place of the tokens that are revoked, which it has ended:
 * whoever goes on after this process knows no others. */
static void store(struct request *rq, struct arena *arena, const struct credentials_owner *owner,
                  const struct credentials *fresh)
{
	struct sealed sealed = credentials_seal(arena, owner, fresh);
	struct pg_rows *rows;
	/* Without a database they are revoked all the same. */
	pg_try(rq, &rows, NULL, REVOCATION_STORE_SQL, pg_text(owner->connection),
	       pg_bytes(sealed.data, sealed.length));
}

/* Revoke what was granted with tokens that the code host does not know any more. A refresh token
 * that it does not know, either, was of a grant that has ended. */
static enum oauth_outcome revoke_refreshed(struct request *rq, struct arena *arena,
                                           const struct provider *provider,
                                           const struct credentials_owner *owner,
                                           const struct credentials *old, bool is_shared)
{
	struct oauth_tokens tokens;
	const char *reason;
	enum oauth_outcome outcome =
		oauth_refresh(rq, provider, arena, old->refresh_token, &tokens, &reason);
	if (outcome != OAUTH_DONE)
		return outcome;
	const struct credentials fresh = {
		.access_token = tokens.access_token,
		.refresh_token = tokens.refresh_token ? tokens.refresh_token : old->refresh_token,
	};
	store(rq, arena, owner, &fresh);
	return oauth_revoke(rq, provider, fresh.access_token, fresh.refresh_token, is_shared);
}

/* Revoke at the provider. An API key cannot be revoked by its user's key; it is only forgotten. */
static void revoke_at_provider(struct request *rq, const char *connection,
                               const struct pg_rows *row)
{
	const struct provider *provider = provider_get(rq, pg_get(row, 0, "provider"));
	if (!provider->oauth)
		return;
	provider = oauth_client_of(rq, provider);
	if (!provider_is_configured(provider)) /* only the client can revoke its tokens */
		return;
	struct credentials_owner owner = {
		.connection = connection,
		.account = pg_get(row, 0, "account_id"),
		.provider = provider->name,
	};
	struct arena *arena = request_secrets_arena(rq);
	size_t length;
	const void *sealed = pg_get_bytes(arena, row, 0, "sealed", &length);
	struct credentials old = credentials_open(rq, arena, &owner, sealed, length);
	bool is_shared = pg_get_bool(row, 0, "is_used_elsewhere");
	enum oauth_outcome outcome =
		oauth_revoke(rq, provider, old.access_token, old.refresh_token, is_shared);
	if (outcome == OAUTH_REFUSED && old.refresh_token)
		outcome = revoke_refreshed(rq, arena, provider, &owner, &old, is_shared);
	if (outcome != OAUTH_DONE && outcome != OAUTH_REFUSED)
		raise_error(rq, ERR_UNAVAILABLE, "%s does not answer", provider->name);
}

void revocation_start(struct request *rq, struct arena *arena, const char *account,
                      const struct provider *provider, const struct credentials *tokens)
{
	const struct credentials_owner owner = {
		.connection = pg_uuid(uuid_new()).text,
		.account = account,
		.provider = provider->name,
	};
	struct sealed sealed = credentials_seal(arena, &owner, tokens);
	struct pg_rows *rows;
	/* Without a database they are revoked now or never. */
	if (pg_try(rq, &rows, NULL, REVOCATION_START_SQL, pg_text(owner.connection),
	           pg_text(account), pg_text(provider->name), pg_bytes(sealed.data, sealed.length)))
		oauth_revoke(rq, provider, tokens->access_token, tokens->refresh_token, true);
}

void revocation_run(struct request *rq, struct task *task)
{
	const char *connection = json_get_text(task->input, "connection_id");
	struct pg_rows *row = pg_query(rq, REVOCATION_GET_SQL, pg_text(connection));
	if (!pg_empty(row))
		revoke_at_provider(rq, connection, row);
	task_complete_after(rq, task, "{}", NULL,
	                    &PG_CALL(REVOCATION_DELETE_SQL, pg_text(connection)));
}

void revocations_forget(struct request *rq)
{
	struct pg_rows *gone = pg_query(rq, REVOCATION_FORGET_SQL);
	for (int row = 0; row < gone->count; row++)
		log_warn("tokens were not revoked, and are forgotten",
		         f_text("provider", pg_get(gone, row, "provider")),
		         f_text("connection", pg_get(gone, row, "id")));
}
