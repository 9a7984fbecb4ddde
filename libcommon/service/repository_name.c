#include "service/repository_name.h"

#include "client/service_ask.h"
#include "json/json.h"
#include "loop/worker.h"
#include "repository_name.sql.h"
#include "service/service.h"

#include <string.h>
#include <strings.h>

#define ASK_TIMEOUT_MS 2000

struct pg_param repository_number_of(struct request *rq, const struct event *event)
{
	int64_t number = json_get_int(event->data, "repository_id", 0);
	return number ? pg_int(number) : pg_null();
}

void on_repository_name(struct request *rq, const struct event *event)
{
	if (strcmp(event_require_text(rq, event, "action"), "forgotten") == 0) {
		pg_query(rq, REPOSITORY_FORGOTTEN_SQL, repository_number_of(rq, event));
		return;
	}
	pg_query(rq, REPOSITORY_RENAMED_SQL, repository_number_of(rq, event),
	         pg_text(event_require_text(rq, event, "repo")),
	         pg_text(json_get_text(event->data, "former")),
	         pg_int(json_get_int(event->data, "version", 0)),
	         pg_text(event_require_text(rq, event, "web_url")));
}

const char *repository_of_event(struct request *rq, const struct event *event)
{
	const char *name = event_require_text(rq, event, "repo");
	struct pg_rows *rows =
		pg_query(rq, REPOSITORY_NAMED_SQL, pg_text(name), repository_number_of(rq, event));
	return pg_value(rows, 0);
}

/* Whether svc-integrations knows of a rename that this service has not read of yet. */
static bool is_known_already(struct request *rq, const char *one, const char *other)
{
	const enum internal_id id = INTERNAL_ID_repository_names_compare;
	const struct ask_options options = {.timeout_ms = ASK_TIMEOUT_MS};
	enum api_service self = rq->worker->process->service->api;
	if (pg_in_transaction(rq) || !internal_op_is_allowed(internal_op(id), self))
		return false;
	struct service_answer answer =
		service_ask_try(rq, id, ASK_BODY(rq, {"repo", one}, {"other", other}), &options);
	return !answer.code && json_get_bool(answer.json, "same", false);
}

bool repository_is_same(struct request *rq, const char *one, const char *other)
{
	if (strcasecmp(one, other) == 0)
		return true;
	struct pg_rows *rows = pg_query(rq, REPOSITORY_IS_SAME_SQL, pg_text(one), pg_text(other));
	return pg_value_bool(rows, 0) || is_known_already(rq, one, other);
}
