#include "setup/app_registration.h"

#include "app/app_facts.h"
#include "app/app_jwt.h"
#include "app_registration.sql.h"
#include "base/url.h"
#include "crypto/crypto.h"
#include "http/query.h"
#include "input/input.h"
#include "json/json.h"
#include "loop/wait.h"
#include "observe/log.h"
#include "pg/pg.h"
#include "provider/provider.h"
#include "reply/reply.h"
#include "service/process.h"
#include "setup/landing_state.h"
#include "setup/manifest.h"
#include "webhook/webhook.h"

#include <inttypes.h>
#include <string.h>

#define CODE_MAX 1024

struct manifest_input {
	const char *organization, *name;
	bool is_public, replaces;
};

static const struct field MANIFEST_FIELDS[] = {
	{IN_BODY, FIELD_TEXT, "organization",
         FIELD_AT(struct manifest_input, organization, const char *), NULLABLE | TRIMMED, 1,
         MANIFEST_ORGANIZATION_MAX, .check = manifest_organization_check},
	BODY_TEXT(struct manifest_input, name, "name", NULLABLE | TRIMMED, 1, MANIFEST_NAME_MAX),
	BODY_BOOL(struct manifest_input, is_public, "public", OPTIONAL, false),
	BODY_BOOL(struct manifest_input, replaces, "replace", OPTIONAL, false),
	FIELD_END,
};

struct created_input {
	const char *code, *state;
};

static const struct field CREATED_FIELDS[] = {
	BODY_TEXT(struct created_input, code, "code", REQUIRED, 1, CODE_MAX),
	BODY_TEXT(struct created_input, state, "state", REQUIRED, 1, LANDING_STATE_MAX),
	FIELD_END,
};

/* --- Making ----------------------------------------------------------------------------------- */

static void require_no_app(struct request *rq, bool replaces)
{
	if (app_is_of_settings())
		raise_error(rq, ERR_APP_EXISTS,
		            "the settings CODE_HOST_APP_ID and CODE_HOST_APP_KEY name an app, and "
		            "win over one that is made here");
	if (!replaces && registration_get(rq))
		raise_error(rq, ERR_APP_EXISTS, "there is an app; `replace` takes another one");
}

yyjson_mut_val *app_registration_form(struct request *rq, const struct manifest *manifest,
                                      bool replaces, yyjson_mut_doc *doc)
{
	const char *expires_at;
	require_no_app(rq, replaces);
	yyjson_mut_val *form = yyjson_mut_obj(doc), *json = manifest_json(rq, manifest, doc);
	const char *state =
		landing_state_new(rq, replaces ? LANDING_REPLACE : LANDING_CREATE, &expires_at);
	yyjson_mut_obj_add_str(doc, form, "action", manifest_action(rq, manifest, state));
	yyjson_mut_obj_add_val(doc, form, "manifest", json);
	yyjson_mut_obj_add_str(doc, form, "state", state);
	yyjson_mut_obj_add_str(doc, form, "expires_at", expires_at);
	return form;
}

void app_manifest_create(struct request *rq)
{
	struct manifest_input *in = request_input(rq, struct manifest_input, MANIFEST_FIELDS);
	const struct manifest manifest = {
		.name = in->name,
		.organization = in->organization,
		.is_public = in->is_public,
	};
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_doc_set_root(doc, app_registration_form(rq, &manifest, in->replaces, doc));
	reply_doc(rq, 200, doc);
}

/* The code works once, and for an hour. It uses the state up with itself; a wrong one does not,
 * which may be the same one sent twice at once. */
static yyjson_val *convert(struct request *rq, const char *code, const char *state)
{
	static const struct code_host_auth CODE = {.limit = "conversions", .is_in_path = true};
	const char *path = arena_printf(rq->arena, "/app-manifests/%s/conversions",
	                                query_encode(rq->arena, code));
	struct code_host_answer answer = code_host_call(rq, &CODE, "POST", path, NULL);
	if (answer.status == 404 || answer.status == 422)
		raise_field(rq, "code", "is not one of the last hour, or was used; begin again");
	if (answer.status != 201)
		raise_error(rq, ERR_UPSTREAM, "the code host does not describe the app: %s",
		            code_host_reason(rq, &answer));
	landing_state_take(rq, state, LANDING_CREATE, LANDING_REPLACE);
	return answer.json;
}

struct key_check {
	const char *pem;
	bool is_valid;
};

static void check_key(void *arg)
{
	struct key_check *check = arg;
	struct rsa_key *key = rsa_key_new(check->pem);
	check->is_valid = key;
	rsa_key_free(key);
}

static bool is_link(const char *text)
{
	const char *why;
	return text && url_is_link(text, strlen(text), &why);
}

/* What the code host answers of an app that it has made. */
static const struct registration *read_app(struct request *rq, yyjson_val *told,
                                           struct registration_secrets *ret_secrets)
{
	struct registration *app = arena_new_of(rq->arena, struct registration);
	*ret_secrets = (struct registration_secrets){
		.key = json_get_text(told, "pem"),
		.client_secret = json_get_text(told, "client_secret"),
		.webhook_secret = json_get_text(told, "webhook_secret"),
	};
	int64_t id = json_get_int(told, "id", 0);
	*app = (struct registration){
		.app_id = arena_printf(rq->arena, "%" PRId64, id),
		.client_id = json_get_text(told, "client_id"),
		.slug = json_get_text(told, "slug"),
		.html_url = json_get_text(told, "html_url"),
		.owner = json_get_text(json_get(told, "owner"), "login"),
		.is_webhook_active =
			ret_secrets->webhook_secret &&
			manifest_url_is_reachable(rq->arena, process_settings.public_url),
	};
	struct key_check check = {.pem = ret_secrets->key ? ret_secrets->key : ""};
	fiber_offload(rq, LANE_SHORT, check_key, &check);
	if (id <= 0 || !app->client_id || !app->slug || !is_link(app->html_url) || !app->owner ||
	    !ret_secrets->client_secret || !check.is_valid)
		raise_error(rq, ERR_UPSTREAM, "the code host's answer describes no app");
	return app;
}

const struct registration *app_registration_take(struct request *rq, const char *code,
                                                 const char *state)
{
	request_secrets_arena(rq); /* the answer's text has secrets, too */
	bool replaces =
		landing_state_check(rq, state, LANDING_CREATE, LANDING_REPLACE) == LANDING_REPLACE;
	require_no_app(rq, replaces);
	struct registration_secrets secrets;
	const struct registration *app = read_app(rq, convert(rq, code, state), &secrets);
	if (!registration_store(rq, app, &secrets, replaces, !provider_code_host_client_is_set()))
		raise_error(rq, ERR_APP_EXISTS,
		            "another app was stored meanwhile; delete %s at the code host",
		            app->html_url);
	log_info("the app at the code host was registered", f_text("slug", app->slug),
	         f_text("owner", app->owner));
	return app;
}

const char *app_registration_install_url(struct request *rq, const char *html_url)
{
	return app_install_address(rq, html_url, landing_state_new(rq, LANDING_INSTALL, NULL));
}

void app_create(struct request *rq)
{
	struct created_input *in = request_input(rq, struct created_input, CREATED_FIELDS);
	const struct registration *app = app_registration_take(rq, in->code, in->state);
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *answer = yyjson_mut_obj(doc);
	yyjson_mut_doc_set_root(doc, answer);
	yyjson_mut_obj_add_val(doc, answer, "app_id", yyjson_mut_raw(doc, app->app_id));
	yyjson_mut_obj_add_str(doc, answer, "slug", app->slug);
	yyjson_mut_obj_add_str(doc, answer, "html_url", app->html_url);
	yyjson_mut_obj_add_str(doc, answer, "owner", app->owner);
	yyjson_mut_obj_add_str(doc, answer, "install_url",
	                       app_registration_install_url(rq, app->html_url));
	reply_doc(rq, 201, doc);
}

/* --- Telling of it ---------------------------------------------------------------------------- */

static bool is_permitted(yyjson_val *permissions, const struct permission *needed)
{
	const char *level = json_get_text(permissions, needed->name);
	return level && (strcmp(needed->level, "read") == 0 || strcmp(level, "read") != 0);
}

static bool has_text(yyjson_val *array, const char *text)
{
	yyjson_val *each;
	size_t index, count;
	yyjson_arr_foreach (array, index, count, each)
		if (yyjson_equals_str(each, text))
			return true;
	return false;
}

/* What the app lacks of the manifest; nothing where there is no app (NULL). */
static void add_missing(yyjson_mut_doc *doc, yyjson_mut_val *answer, const struct app_facts *facts)
{
	yyjson_mut_val *permissions = yyjson_mut_obj_add_arr(doc, answer, "permissions_missing");
	yyjson_mut_val *events = yyjson_mut_obj_add_arr(doc, answer, "events_missing");
	if (!facts)
		return;
	for (const struct permission *each = MANIFEST_PERMISSIONS; each->name; each++)
		if (!is_permitted(facts->permissions, each))
			yyjson_mut_arr_add_str(doc, permissions, each->name);
	for (const char *const *event = MANIFEST_EVENTS; *event; event++)
		if (!has_text(facts->events, *event))
			yyjson_mut_arr_add_str(doc, events, *event);
}

static void add_webhook(struct request *rq, yyjson_mut_doc *doc, yyjson_mut_val *answer)
{
	struct pg_rows *rows = pg_query(rq, APP_LAST_DELIVERY_SQL);
	yyjson_mut_val *webhook = yyjson_mut_obj_add_obj(doc, answer, "webhook");
	yyjson_mut_obj_add_bool(doc, webhook, "active", webhook_is_active(rq));
	json_add_text(doc, webhook, "last_delivery_at", pg_value(rows, 0));
}

static const char *source_of(bool is_configured)
{
	if (app_is_of_settings())
		return "settings";
	return is_configured ? "stored" : NULL;
}

void app_get(struct request *rq)
{
	request_input_none(rq);
	bool is_configured = app_is_configured(rq);
	struct app_facts facts = {0};
	if (is_configured)
		facts = app_facts_get(rq);
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *answer = yyjson_mut_obj(doc);
	yyjson_mut_doc_set_root(doc, answer);
	yyjson_mut_obj_add_bool(doc, answer, "configured", is_configured);
	json_add_text(doc, answer, "source", source_of(is_configured));
	json_add_text(doc, answer, "slug", facts.slug);
	json_add_text(doc, answer, "html_url", facts.html_url);
	json_add_text(doc, answer, "owner", facts.owner);
	add_missing(doc, answer, is_configured ? &facts : NULL);
	add_webhook(rq, doc, answer);
	reply_doc(rq, 200, doc);
}

void app_delete(struct request *rq)
{
	request_input_none(rq);
	if (!registration_delete(rq, !provider_code_host_client_is_set()))
		raise_error(rq, ERR_NOT_FOUND, "no app was made here");
	log_info("the app at the code host was forgotten");
	reply_json(rq, 200, "{\"deleted\": true}");
}
