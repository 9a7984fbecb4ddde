#include "connection/revocation.h"

#include "connection/credentials.h"
#include "connection/oauth_client.h"
#include "json/json.h"
#include "observe/log.h"
#include "pg/pg.h"
#include "provider/oauth.h"
#include "revocation.sql.h"

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
	if (oauth_revoke(rq, provider, old.access_token, old.refresh_token,
	                 pg_get_bool(row, 0, "is_used_elsewhere")) != OAUTH_DONE)
		raise_error(rq, ERR_UNAVAILABLE, "%s does not answer", provider->name);
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
		log_warn(LOG_GROUP_APP, "tokens were not revoked, and are forgotten",
		         f_text("provider", pg_get(gone, row, "provider")),
		         f_text("connection", pg_get(gone, row, "id")));
}
