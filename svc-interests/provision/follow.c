#include "follow.sql.h"
#include "json/json.h"
#include "pg/pg.h"
#include "provision/provision.h"
#include "service/repository_name.h"
#include "steps.sql.h"

#include <string.h>

void on_provision_pull_request(struct request *rq, const struct event *event)
{
	pg_begin(rq);
	struct pg_rows *merged = pg_query(rq, FOLLOW_PULL_REQUEST_SQL,
	                                  pg_text(event_require_text(rq, event, "repo")),
	                                  pg_int(json_get_int(event->data, "number", 0)),
	                                  pg_text(event_require_text(rq, event, "state")),
	                                  pg_bool(json_get_bool(event->data, "merged", false)),
	                                  pg_text(event_require_text(rq, event, "occurred_at")),
	                                  repository_number_of(rq, event));
	for (int i = 0; i < merged->count; i++)
		pg_query(rq, FIRST_RUN_QUEUE_SQL, pg_text(pg_value(merged, i)));
	pg_commit(rq);
}

/* Whether the app is on the repository after the action; false in *ret_is_known: the action says
 * nothing of it. */
static bool is_installed_after(const char *action, bool *ret_is_known)
{
	static const struct {
		const char *action;
		bool is_installed;
	} ACTIONS[] = {
		{"created", true},  {"added", true},    {"unsuspend", true},
		{"deleted", false}, {"removed", false}, {"suspend", false},
	};
	*ret_is_known = false;
	for (size_t i = 0; i < ARRAY_LEN(ACTIONS); i++) {
		if (strcmp(ACTIONS[i].action, action) != 0)
			continue;
		*ret_is_known = true;
		return ACTIONS[i].is_installed;
	}
	return false;
}

void on_provision_app(struct request *rq, const struct event *event)
{
	const char *repo = json_get_text(event->data, "repo");
	const char *action = json_get_text(event->data, "action");
	bool is_known = false;
	bool is_installed = action && is_installed_after(action, &is_known);
	if (repo && is_known)
		pg_query(rq, FOLLOW_APP_SQL, pg_text(repo),
		         is_installed ? pg_null() : pg_text("now"),
		         repository_number_of(rq, event));
}

void provision_key_revoked(struct request *rq, const struct event *event)
{
	pg_query(rq, FOLLOW_KEY_SQL, pg_text(event->account),
	         pg_text(event_require_text(rq, event, "key_id")));
}
