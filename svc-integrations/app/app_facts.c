#include "app/app_facts.h"

#include "app/app_jwt.h"
#include "app_facts.sql.h"
#include "base/url.h"
#include "http/query.h"
#include "json/json.h"
#include "pg/pg.h"
#include "provider/provider.h"

#include <string.h>

#define BELIEVED_S 60

static struct app_facts read_row(struct request *rq, const struct pg_rows *rows)
{
	return (struct app_facts){
		.slug = pg_get(rows, 0, "slug"),
		.html_url = pg_get(rows, 0, "html_url"),
		.owner = pg_get(rows, 0, "owner_login"),
		.permissions = json_parse_own(rq->arena, pg_get(rows, 0, "permissions")),
		.events = json_parse_own(rq->arena, pg_get(rows, 0, "events")),
	};
}

/* The address of the app's page: as the code host gives it, or, where that leads elsewhere, as it
 * is at GitHub. */
static const char *page_of(struct request *rq, yyjson_val *told, const char *slug)
{
	const char *why, *page = json_get_text(told, "html_url"), *web = code_host_web_url();
	if (page && strncmp(page, web, strlen(web)) == 0 && page[strlen(web)] == '/' &&
	    url_is_link(page, strlen(page), &why))
		return page;
	return arena_printf(rq->arena, "%s/apps/%s", web, query_encode(rq->arena, slug));
}

static struct app_facts ask(struct request *rq, const char *app_id)
{
	struct code_host_auth auth = app_auth(rq);
	struct code_host_answer answer = code_host_call(rq, &auth, "GET", "/app", NULL);
	const char *slug = json_get_text(answer.json, "slug");
	yyjson_val *permissions = json_get(answer.json, "permissions");
	yyjson_val *events = json_get(answer.json, "events");
	const char *owner = json_get_text(json_get(answer.json, "owner"), "login");
	if (answer.status != 200 || !slug)
		raise_error(rq, ERR_UPSTREAM, "the code host refuses the app: %s",
		            code_host_reason(rq, &answer));
	struct pg_rows *rows = pg_query(
		rq, APP_FACTS_STORE_SQL, pg_text(app_id), pg_text(slug),
		pg_text(page_of(rq, answer.json, slug)), pg_text(owner),
		pg_text(yyjson_is_obj(permissions) ? json_write(rq->arena, permissions, NULL)
	                                           : "{}"),
		pg_text(yyjson_is_arr(events) ? json_write(rq->arena, events, NULL) : "[]"));
	return read_row(rq, rows);
}

struct app_facts app_facts_get(struct request *rq)
{
	const char *app_id = app_id_get(rq);
	if (!app_id)
		raise_error(rq, ERR_NOT_CONFIGURED, "the code-host app is not configured");
	struct pg_rows *rows = pg_query(rq, APP_FACTS_GET_SQL, pg_text(app_id), pg_int(BELIEVED_S));
	return pg_empty(rows) ? ask(rq, app_id) : read_row(rq, rows);
}

const char *app_install_address(struct request *rq, const char *html_url, const char *state)
{
	return arena_printf(rq->arena, "%s/installations/new?state=%s", html_url, state);
}
