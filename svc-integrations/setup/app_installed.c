#include "setup/app_installed.h"

#include "app/access.h"
#include "app/app_facts.h"
#include "app/app_jwt.h"
#include "app/installation.h"
#include "app_installed.sql.h"
#include "input/input.h"
#include "json/json.h"
#include "pg/pg.h"
#include "reply/reply.h"
#include "setup/app_registration.h"
#include "setup/landing_state.h"

#include <inttypes.h>
#include <string.h>

#define PER_PAGE  100
#define PAGES_MAX 10

struct installed_input {
	int64_t installation;
	const char *action, *state;
};

static const char *const ACTIONS[] = {"install", "update", "request", NULL};

static const struct field INSTALLED_FIELDS[] = {
	BODY_INT(struct installed_input, installation, "installation_id", NULLABLE, 1,
                 9007199254740991, 0),
	BODY_ENUM(struct installed_input, action, "setup_action", NULLABLE, ACTIONS),
	BODY_TEXT(struct installed_input, state, "state", NULLABLE, 1, LANDING_STATE_MAX),
	FIELD_END,
};

void app_install_url_get(struct request *rq)
{
	request_input_none(rq);
	if (!app_is_configured(rq)) {
		reply_json(rq, 200,
		           "{\"install_url\": null, \"state\": null, \"app_slug\": null, "
		           "\"configured\": false}");
		return;
	}
	installation_lookup_count(rq);
	struct app_facts facts = app_facts_get(rq);
	const char *state = landing_state_new(rq, LANDING_INSTALL, NULL);
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *answer = yyjson_mut_obj(doc);
	yyjson_mut_doc_set_root(doc, answer);
	yyjson_mut_obj_add_str(doc, answer, "install_url",
	                       app_install_address(rq, facts.html_url, state));
	yyjson_mut_obj_add_str(doc, answer, "state", state);
	yyjson_mut_obj_add_str(doc, answer, "app_slug", facts.slug);
	yyjson_mut_obj_add_bool(doc, answer, "configured", true);
	reply_doc(rq, 200, doc);
}

/* The state is used up by an answer. */
static void take_state(struct request *rq, const struct installed_input *in)
{
	if (in->state)
		landing_state_take(rq, in->state, LANDING_INSTALL, LANDING_INSTALL);
}

static void reply_not_installed(struct request *rq, const struct installed_input *in,
                                const char *reason)
{
	take_state(rq, in);
	reply_json(rq, 200,
	           arena_printf(rq->arena, "{\"installed\": false, \"reason\": \"%s\"}", reason));
}

static bool is_connected(struct request *rq)
{
	return pg_value_bool(pg_query(rq, INSTALLED_CONNECTION_SQL, pg_uuid(rq->caller.account)),
	                     0);
}

static yyjson_val *installation_of_page(yyjson_val *installations, int64_t id)
{
	yyjson_val *each;
	size_t index, count;
	yyjson_arr_foreach (installations, index, count, each)
		if (json_get_int(each, "id", 0) == id)
			return each;
	return NULL;
}

/* The installation, if it is among those that the connection's user may see. NULL: it is not; with
 * *ret_is_refused the code host does not accept the connection. */
static yyjson_val *find(struct request *rq, const struct code_host_auth *auth, int64_t id,
                        bool *ret_is_refused)
{
	yyjson_val *found = NULL;
	size_t count = PER_PAGE;
	*ret_is_refused = false;
	for (int page = 1; page <= PAGES_MAX && count == PER_PAGE && !found; page++) {
		const char *path =
			arena_printf(rq->arena, "/user/installations?per_page=%d&page=%d", PER_PAGE,
		                     page);
		struct code_host_answer answer = code_host_call(rq, auth, "GET", path, NULL);
		*ret_is_refused = answer.status == 401;
		if (*ret_is_refused)
			return NULL;
		if (answer.status != 200)
			raise_error(rq, ERR_CONFLICT,
			            "the code host does not list your installations: %s",
			            code_host_reason(rq, &answer));
		yyjson_val *list = json_get(answer.json, "installations");
		count = yyjson_arr_size(list);
		found = installation_of_page(list, id);
	}
	return found;
}

/* The names of the first repositories of the installation that the user may see. */
static yyjson_mut_val *repositories_of(struct request *rq, const struct code_host_auth *auth,
                                       int64_t id, yyjson_mut_doc *doc)
{
	const char *path =
		arena_printf(rq->arena, "/user/installations/%" PRId64 "/repositories?per_page=%d",
	                     id, PER_PAGE);
	struct code_host_answer answer = code_host_call(rq, auth, "GET", path, NULL);
	yyjson_mut_val *names = yyjson_mut_arr(doc);
	yyjson_val *each;
	size_t index, count;
	yyjson_arr_foreach (json_get(answer.json, "repositories"), index, count, each) {
		const char *name = json_get_text(each, "full_name");
		if (name && repository_name_is_valid(name))
			yyjson_mut_arr_add_str(doc, names, name);
	}
	return names;
}

static void reply_installed(struct request *rq, const struct installed_input *in,
                            const struct code_host_auth *auth, yyjson_val *installation)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *answer = yyjson_mut_obj(doc);
	yyjson_mut_doc_set_root(doc, answer);
	yyjson_mut_val *names = repositories_of(rq, auth, in->installation, doc);
	take_state(rq, in);
	pg_query(rq, INSTALLED_FORGET_SQL, pg_int(in->installation),
	         pg_text(json_write_mut(rq->arena, names, NULL)));
	yyjson_mut_obj_add_bool(doc, answer, "installed", true);
	yyjson_mut_obj_add_int(doc, answer, "installation_id", in->installation);
	json_add_text(doc, answer, "account",
	              json_get_text(json_get(installation, "account"), "login"));
	yyjson_mut_obj_add_val(doc, answer, "repositories", names);
	json_add_text(doc, answer, "repository_selection",
	              json_get_text(installation, "repository_selection"));
	reply_doc(rq, 200, doc);
}

void app_installation_confirm(struct request *rq)
{
	struct installed_input *in = request_input(rq, struct installed_input, INSTALLED_FIELDS);
	bool is_requested = in->action && strcmp(in->action, "request") == 0;
	if (in->installation == 0 && !is_requested)
		raise_field(rq, "installation_id", "is required");
	if (in->state)
		landing_state_check(rq, in->state, LANDING_INSTALL, LANDING_INSTALL);
	if (is_requested) {
		reply_not_installed(rq, in, "requested");
		return;
	}
	bool is_refused = !is_connected(rq);
	if (is_refused) {
		reply_not_installed(rq, in, "connect_first");
		return;
	}
	struct code_host_auth auth = access_connection_auth(rq);
	yyjson_val *installation = find(rq, &auth, in->installation, &is_refused);
	if (installation)
		reply_installed(rq, in, &auth, installation);
	else
		reply_not_installed(rq, in, is_refused ? "connect_first" : "not_yours");
}
