#include "base/timefmt.h"
#include "client/service_ask.h"
#include "code_host/code_host.h"
#include "input/input.h"
#include "json/json.h"
#include "pg/pg.h"
#include "product/agent_workflow.h"
#include "refresh.sql.h"
#include "reply/reply.h"

#include <string.h>

#define PER_PAGE   100
#define PAGES_MAX  10   /* of a list of a repository: the newest 1,000 */
#define RESERVE_MS 2000 /* of the request's time: to keep and to answer what was fetched */
#define EVER       "1970-01-01T00:00:00.000Z"

/* A repository is not fetched again before so many seconds have passed: its installation has one
 * limit at the code host, which all accounts that have the installation share. */
#define PAUSE_S 10

/* How much earlier than the last time a list is asked for. The code host's clock may be behind, and
 * so may its lists; runs are listed by when they were made, and change later. */
#define OVERLAP_MS      INT64_C(300000)
#define OVERLAP_RUNS_MS INT64_C(172800000) /* two days */

struct refresh_input {
	bool is_full;
};

static const struct field REFRESH_FIELDS[] = {
	BODY_BOOL(struct refresh_input, is_full, "full", NULLABLE, false),
	FIELD_END,
};

/* A list that is fetched of each repository. */
struct list {
	enum internal_id op;
	const char *name; /* of the member of the answer */
	const char *update_sql;
	bool is_of_runs;
};

static const struct list LISTS[] = {
	{INTERNAL_ID_pull_requests_list, "pull_requests", REFRESH_PULL_REQUESTS_UPDATE_SQL, false},
	{INTERNAL_ID_issues_list, "issues", REFRESH_ISSUES_UPDATE_SQL, false},
	{INTERNAL_ID_runs_list, "workflow_runs", REFRESH_RUNS_UPDATE_SQL, true},
};

/* A refresh under way. */
struct refresh {
	struct service_answer
		failure; /* what ended it before all was seen; code ERR_NONE: nothing */
	yyjson_mut_doc *doc;
	yyjson_mut_val *repos, *skipped; /* of the answer */
	int seen;
};

static const char *question(struct request *rq, const struct list *list, const char *repo,
                            const char *since, int page)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *body = yyjson_mut_obj(doc);
	int64_t overlap_ms = list->is_of_runs ? OVERLAP_RUNS_MS : OVERLAP_MS, since_ms = 0;
	char asked_since[TIME_TEXT_LEN + 1];
	time_parse(since, strlen(since), &since_ms);
	time_format(MAX_OF(since_ms - overlap_ms, 0), asked_since);
	yyjson_mut_obj_add_str(doc, body, "repo", repo);
	yyjson_mut_obj_add_int(doc, body, "page", page);
	yyjson_mut_obj_add_int(doc, body, "per_page", PER_PAGE);
	yyjson_mut_obj_add_strcpy(doc, body, "since", asked_since);
	if (list->is_of_runs)
		yyjson_mut_obj_add_str(doc, body, "workflow", agent_workflow);
	else
		yyjson_mut_obj_add_str(doc, body, "state", "all");
	return json_write_mut(rq->arena, body, NULL);
}

/* Ask within what is left of the request's time. */
static struct service_answer ask(struct request *rq, enum internal_id op, const char *body)
{
	uint64_t left_ms = request_left_ms(rq);
	if (left_ms <= RESERVE_MS)
		return (struct service_answer){.code = ERR_TIMEOUT, .detail = "the time is over"};
	return service_ask_try(rq, op, body,
	                       &(struct ask_options){.timeout_ms = left_ms - RESERVE_MS});
}

/* Fetch a list of a repository and apply it as the code host's events would be. */
static struct service_answer fetch_list(struct request *rq, const struct list *list,
                                        const char *repo, const char *since)
{
	struct service_answer answer = {0};
	int64_t page = 1;
	for (int i = 0; i < PAGES_MAX && page; i++) {
		answer = ask(rq, list->op, question(rq, list, repo, since, (int)page));
		if (answer.code)
			return answer;
		/* The first answer of all proves that the account may read the repository. */
		if (i == 0 && list == LISTS)
			pg_query(rq, REFRESH_OWN_SQL, pg_uuid(rq->caller.account), pg_text(repo));
		const char *items = json_write(rq->arena, json_get(answer.json, list->name), NULL);
		pg_query(rq, list->update_sql, pg_text(repo), pg_text(items));
		page = json_get_int(answer.json, "next_page", 0);
	}
	return answer;
}

/* A repository that may be fetched. */
struct candidate {
	const char *repo;
	const char *since;  /* it is known; EVER: it never was fetched to its end */
	bool is_unfinished; /* the last fetch has not come to its end */
};

/* Note that it is fetched from now on. Returns that time; NULL: it was not long ago. */
static const char *begin(struct request *rq, const char *repo)
{
	struct pg_rows *begun = pg_query(rq, REFRESH_BEGIN_SQL, pg_uuid(rq->caller.account),
	                                 pg_text(repo), pg_int(PAUSE_S));
	return pg_empty(begun) ? NULL : pg_get(begun, 0, "begun_at");
}

static struct service_answer fetch_repo(struct request *rq, const struct candidate *candidate,
                                        const char *begun_at)
{
	struct service_answer answer = {0};
	for (size_t i = 0; i < ARRAY_LEN(LISTS) && !answer.code; i++)
		answer = fetch_list(rq, &LISTS[i], candidate->repo, candidate->since);
	if (!answer.code)
		pg_query(rq, REFRESH_END_SQL, pg_uuid(rq->caller.account), pg_text(candidate->repo),
		         pg_text(begun_at));
	return answer;
}

/* Whether the fault is that of one repository, and the next can be fetched. Other codes that are
 * final, such as that there is no app, are of all repositories. */
static bool is_of_repo(enum err_code code)
{
	return code == ERR_NOT_FOUND || code == ERR_FORBIDDEN || code == ERR_CONFLICT;
}

static void skip(struct refresh *refresh, const char *repo, const char *reason)
{
	yyjson_mut_val *row = yyjson_mut_arr_add_obj(refresh->doc, refresh->skipped);
	yyjson_mut_obj_add_str(refresh->doc, row, "repo", repo);
	yyjson_mut_obj_add_str(refresh->doc, row, "reason", reason);
	refresh->seen++;
}

/* What has not come to its end a moment ago remains. */
static void fetch_next(struct request *rq, struct refresh *refresh,
                       const struct candidate *candidate)
{
	const char *begun_at = begin(rq, candidate->repo);
	if (!begun_at) {
		if (!candidate->is_unfinished)
			skip(refresh, candidate->repo, "it is fetched once in 10 seconds");
		return;
	}
	struct service_answer answer = fetch_repo(rq, candidate, begun_at);
	if (is_of_repo(answer.code)) {
		skip(refresh, candidate->repo, answer.detail);
	} else if (answer.code) {
		refresh->failure = answer;
	} else {
		yyjson_mut_arr_add_str(refresh->doc, refresh->repos, candidate->repo);
		refresh->seen++;
	}
}

static void require_code_host(struct request *rq)
{
	yyjson_val *status = service_ask(rq, INTERNAL_ID_code_host_status_get, "{}");
	if (!json_get_bool(status, "configured", false))
		raise_error(rq, ERR_NOT_CONFIGURED, "the code-host app is not configured");
}

void fleet_refresh(struct request *rq)
{
	struct refresh_input *in = request_input(rq, struct refresh_input, REFRESH_FIELDS);
	require_code_host(rq);
	struct pg_rows *rows = pg_query(rq, REFRESH_LIST_SQL, pg_uuid(rq->caller.account),
	                                pg_text(rq->caller.repo));
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	struct refresh refresh = {
		.doc = doc,
		.repos = yyjson_mut_arr(doc),
		.skipped = yyjson_mut_arr(doc),
	};
	for (int i = 0; i < rows->count && !refresh.failure.code; i++) {
		const char *fetched_at = pg_get(rows, i, "fetched_at");
		const struct candidate candidate = {
			.repo = pg_get(rows, i, "repo"),
			.since = in->is_full || !fetched_at ? EVER : fetched_at,
			.is_unfinished = pg_get_bool(rows, i, "is_unfinished"),
		};
		fetch_next(rq, &refresh, &candidate);
	}
	if (refresh.seen == 0 && refresh.failure.code && refresh.failure.code != ERR_TIMEOUT)
		service_answer_raise(rq, &refresh.failure);
	char now[TIME_TEXT_LEN + 1];
	time_format(time_now_ms(), now);
	yyjson_mut_val *answer = yyjson_mut_obj(doc);
	yyjson_mut_doc_set_root(doc, answer);
	yyjson_mut_obj_add_bool(doc, answer, "refreshed", true);
	yyjson_mut_obj_add_str(doc, answer, "mode", in->is_full ? "full" : "delta");
	yyjson_mut_obj_add_val(doc, answer, "repos", refresh.repos);
	yyjson_mut_obj_add_val(doc, answer, "skipped", refresh.skipped);
	yyjson_mut_obj_add_strcpy(doc, answer, "fetched_at", now);
	yyjson_mut_obj_add_int(doc, answer, "remaining", rows->count - refresh.seen);
	reply_doc(rq, 200, doc);
}
