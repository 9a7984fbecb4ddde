#include "run/repo_access.h"

#include "client/service_ask.h"
#include "json/json.h"
#include "observe/log.h"
#include "pg/pg.h"
#include "repo_access.sql.h"

#include <string.h>

#define ASK_TIMEOUT_MS 5000

/* Lost access is an event of svc-integrations, too, which makes the item of the inbox. */
static void renew(struct request *rq, const char *repo)
{
	const struct pg_param account = pg_uuid(rq->caller.account);
	struct service_answer answer =
		service_ask_try(rq, INTERNAL_ID_repository_access_get, ASK_BODY(rq, {"repo", repo}),
	                        &(struct ask_options){.timeout_ms = ASK_TIMEOUT_MS});
	if (answer.code)
		log_info("access to a repository is not known", f_text("repo", repo),
		         f_text("error", err_info(answer.code)->slug),
		         f_text("detail", answer.detail));
	else if (json_get_bool(answer.json, "access", false))
		pg_query(rq, REPO_ACCESS_OWN_SQL, account, pg_text(repo));
	else
		pg_query(rq, REPO_ACCESS_DISOWN_SQL, account, pg_text(repo));
}

void repo_access_renew(struct request *rq, const char *repo)
{
	if (pg_in_transaction(rq))
		return;
	struct pg_rows *rows =
		pg_query(rq, REPO_ACCESS_IS_DUE_SQL, pg_uuid(rq->caller.account), pg_text(repo));
	if (pg_value_bool(rows, 0))
		renew(rq, repo);
}

void repo_access_renew_owners(struct request *rq, const char *repo)
{
	struct pg_rows *due = pg_query(rq, REPO_ACCESS_DUE_SQL, pg_text(repo));
	for (int i = 0; i < due->count; i++) {
		const char *account = pg_get(due, i, "account_id");
		require(uuid_parse(account, strlen(account), &rq->caller.account));
		renew(rq, repo);
	}
}

void repo_access_lost(struct request *rq, const struct event *event)
{
	pg_query(rq, REPO_ACCESS_END_SQL, pg_text(event->account),
	         pg_text(json_get_text(event->data, "repo")),
	         pg_text(event_require_text(rq, event, "web_url")),
	         pg_text(event_require_text(rq, event, "occurred_at")));
}
