#include "registration/registration.h"

#include "json/json.h"
#include "observe/log.h"
#include "pg/pg.h"
#include "registration.sql.h"
#include "request/audited.h"
#include "vault/vault.h"

#include <string.h>

static const struct registration *read_row(struct request *rq, const struct pg_rows *rows)
{
	struct registration *app = arena_new_of(rq->arena, struct registration);
	*app = (struct registration){
		.app_id = pg_get(rows, 0, "app_id"),
		.client_id = pg_get(rows, 0, "client_id"),
		.slug = pg_get(rows, 0, "slug"),
		.html_url = pg_get(rows, 0, "html_url"),
		.owner = pg_get(rows, 0, "owner_login"),
		.is_webhook_active = pg_get_bool(rows, 0, "is_webhook_active"),
	};
	return app;
}

const struct registration *registration_get(struct request *rq)
{
	struct pg_rows *rows = pg_query(rq, REGISTRATION_GET_SQL);
	return pg_empty(rows) ? NULL : read_row(rq, rows);
}

/* What the secrets are sealed for (vault.h). */
static const char *context_of(struct arena *arena, const char *app_id)
{
	return arena_printf(arena, "app %s", app_id);
}

const struct registration *registration_open(struct request *rq,
                                             struct registration_secrets *ret_secrets)
{
	struct pg_rows *rows = pg_query(rq, REGISTRATION_GET_SQL);
	if (pg_empty(rows))
		return NULL;
	const struct registration *app = read_row(rq, rows);
	struct arena *arena = request_secrets_arena(rq);
	size_t length;
	const void *sealed = pg_get_bytes(arena, rows, 0, "secrets", &length);
	const char *text = vault_open(arena, context_of(arena, app->app_id), sealed, length);
	if (!text) {
		log_error("the secrets of the app do not open: its row was changed, or its key is "
		          "missing from SEAL_KEYS",
		          f_text("app", app->app_id));
		raise_error(rq, ERR_CONFLICT,
		            "the secrets of the registered app cannot be read; an operator can "
		            "replace the app");
	}
	yyjson_val *secrets = json_parse_own(arena, text);
	*ret_secrets = (struct registration_secrets){
		.key = json_get_text(secrets, "key"),
		.client_secret = json_get_text(secrets, "client_secret"),
		.webhook_secret = json_get_text(secrets, "webhook_secret"),
	};
	return app;
}

static struct sealed seal(struct request *rq, const char *app_id,
                          const struct registration_secrets *secrets)
{
	struct arena *arena = request_secrets_arena(rq);
	yyjson_mut_doc *doc = json_doc_new(arena);
	yyjson_mut_val *object = yyjson_mut_obj(doc);
	json_add_text(doc, object, "key", secrets->key);
	json_add_text(doc, object, "client_secret", secrets->client_secret);
	json_add_text(doc, object, "webhook_secret", secrets->webhook_secret);
	return vault_seal(arena, context_of(arena, app_id), json_write_mut(arena, object, NULL));
}

bool registration_store(struct request *rq, const struct registration *app,
                        const struct registration_secrets *secrets, bool replaces,
                        bool ends_connections)
{
	struct sealed sealed = seal(rq, app->app_id, secrets);
	audited_begin(rq);
	struct pg_rows *rows =
		pg_query(rq, REGISTRATION_STORE_SQL, pg_text(app->app_id), pg_text(app->client_id),
	                 pg_text(app->slug), pg_text(app->html_url), pg_text(app->owner),
	                 pg_bool(app->is_webhook_active), pg_bytes(sealed.data, sealed.length),
	                 pg_bool(replaces), pg_bool(ends_connections));
	pg_commit(rq);
	return !pg_empty(rows);
}

bool registration_delete(struct request *rq, bool ends_connections)
{
	audited_begin(rq);
	struct pg_rows *rows = pg_query(rq, REGISTRATION_DELETE_SQL, pg_bool(ends_connections));
	pg_commit(rq);
	return !pg_empty(rows);
}
