#include "budget/budget.h"

#include "budget.sql.h"
#include "budget/row_work.h"
#include "client/service_ask.h"
#include "input/input.h"
#include "input/key_limit.h"
#include "json/json.h"
#include "observe/log.h"
#include "observe/metrics.h"
#include "pg/pg.h"
#include "reply/reply.h"
#include "reply/resource.h"
#include "request/audited.h"

#include <string.h>

#define USD_MAX      1e6
#define PERCENTS_MAX 10

const int64_t BUDGETS_CHECK_EVERY_MS = (int64_t)3600 * 1000;

METRIC_GAUGE(drift_gauge, "expops_budget_drift_usd",
             "Differences between budgets and the runs that they count, found and mended by the "
             "last check; it should be 0.");

struct budget_input {
	const char *scope, *repo, *interest;
	const char *id;
	int64_t limit, offset;
};

static const char *const SCOPES[] = {"account", "repo", "interest", NULL};
static const char *const PERIODS[] = {"day", "week", "month", NULL};
static const char *const ACTIONS[] = {"warn", "stop", NULL};

static const struct field PUT_FIELDS[] = {
	BODY_ENUM(struct budget_input, scope, "scope", REQUIRED, SCOPES),
	{IN_BODY, FIELD_TEXT, "repo", FIELD_AT(struct budget_input, repo, const char *), NULLABLE,
         1, 200, .check = repo_check},
	BODY_UUID(struct budget_input, interest, "interest_id", NULLABLE),
	JSON_ENUM("period", REQUIRED, PERIODS),
	JSON_FLOAT("usd", REQUIRED, 0, USD_MAX),
	JSON_ENUM("action", OPTIONAL, ACTIONS),
	{IN_BODY, FIELD_ARRAY, "warn_percent", FIELD_NOWHERE, OPTIONAL, 0, PERCENTS_MAX},
	JSON_FLOAT("max_usd_per_run", OPTIONAL, 1, USD_MAX),
	JSON_FLOAT("assume_usd", NULLABLE, 0, USD_MAX),
	JSON_TEXT("time_zone", OPTIONAL, 1, 64),
	JSON_INT("week_starts", OPTIONAL, 1, 7),
	READ_ONLY("budget_id"),
	READ_ONLY("state"),
	READ_ONLY("created_at"),
	READ_ONLY("updated_at"),
	FIELD_END,
};

static const struct field LIST_FIELDS[] = {
	QUERY_LIMIT(struct budget_input, limit, 20, 100),
	QUERY_OFFSET(struct budget_input, offset),
	FIELD_END,
};

static const struct field HISTORY_FIELDS[] = {
	PATH_UUID(struct budget_input, id, "budget_id"),
	QUERY_LIMIT(struct budget_input, limit, 20, 100),
	QUERY_OFFSET(struct budget_input, offset),
	FIELD_END,
};

static const struct field DELETE_FIELDS[] = {
	PATH_UUID(struct budget_input, id, "budget_id"),
	FIELD_END,
};

static const struct constraint CONSTRAINTS[] = {
	{"budget_max", ERR_CONFLICT, NULL, "an account may have 100 budgets; delete one first"},
	{"budget_time_zone", ERR_INVALID, "time_zone",
         "must be UTC or a name of the time zone database, such as Europe/Berlin"},
	{0},
};

static bool is_percent(yyjson_val *item)
{
	return item_is_whole(item, 1, 1000);
}

/* Add a fault unless the body has the member that names the scope's target, and no other. */
static void check_target(struct request *rq, const char *name, const char *scope)
{
	const char *given = json_get_text(request_body(rq), "scope");
	bool is_wanted = given && strcmp(given, scope) == 0;
	if (is_wanted && !request_has_member(rq, name))
		problem_add_field(rq->arena, &rq->problem, name, "is required with this scope");
	if (!is_wanted && request_has_member(rq, name))
		problem_add_field(rq->arena, &rq->problem, name, "is only for the scope `%s`",
		                  scope);
}

static void require_known_interest(struct request *rq, const char *interest)
{
	service_ask(rq, INTERNAL_ID_interest_pool_get, ASK_BODY(rq, {"interest_id", interest}));
}

void budget_put(struct request *rq)
{
	check_target(rq, "repo", "repo");
	check_target(rq, "interest_id", "interest");
	request_check_items(rq, "warn_percent", is_percent, "must be an integer from 1 to 1000");
	struct budget_input *in = request_input(rq, struct budget_input, PUT_FIELDS);
	const char *repo = NULL;
	if (in->interest)
		require_known_interest(rq, in->interest);
	if (in->repo) {
		struct pg_rows *rows = pg_query(rq, BUDGET_REPO_SQL, pg_uuid(rq->caller.account),
		                                pg_text(in->repo));
		require_row(rq, rows, "no run or agent of yours is on this repository");
		repo = pg_value(rows, 0);
	}
	audited_begin(rq); /* committed together with the answer */
	struct pg_rows *rows =
		pg_write(rq, CONSTRAINTS, BUDGET_PUT_SQL, pg_uuid(rq->caller.account),
	                 pg_text(request_body_json(rq)), pg_text(repo));
	reply_json(rq, 200, pg_value(rows, 0));
}

void budget_list(struct request *rq)
{
	struct budget_input *in = request_input(rq, struct budget_input, LIST_FIELDS);
	const struct identity *caller = &rq->caller;
	struct pg_rows *rows =
		pg_query(rq, BUDGET_LIST_SQL, pg_uuid(caller->account), pg_text(caller->repo),
	                 pg_text(caller->interest), pg_bool(key_is_limited(rq)), pg_int(in->limit),
	                 pg_int(in->offset));
	reply_page(rq, rows, in->limit, in->offset);
}

void budget_history_list(struct request *rq)
{
	struct budget_input *in = request_input(rq, struct budget_input, HISTORY_FIELDS);
	struct pg_rows *rows = pg_query(rq, BUDGET_HISTORY_SQL, pg_uuid(rq->caller.account),
	                                pg_text(in->id), pg_int(in->limit), pg_int(in->offset));
	require_row(rq, rows, "no such budget");
	reply_page(rq, rows, in->limit, in->offset);
}

void budget_delete(struct request *rq)
{
	struct budget_input *in = request_input(rq, struct budget_input, DELETE_FIELDS);
	audited_begin(rq);
	reply_one(rq, 200,
	          pg_query(rq, BUDGET_DELETE_SQL, pg_uuid(rq->caller.account), pg_text(in->id)),
	          "no such budget");
}

static void warn_of_zone(const char *budget, const char *lost_zone)
{
	if (lost_zone)
		log_warn("the time zone of a budget exists no more, and its periods are of UTC",
		         f_text("budget", budget), f_text("time_zone", lost_zone));
}

/* `context`: the sum of the differences in USD. */
static void on_checked(const struct pg_rows *rows, const char *id, void *context)
{
	double *drift_usd = context, found_usd = pg_get_float(rows, 0, "drift_usd");
	warn_of_zone(id, pg_get(rows, 0, "lost_zone"));
	if (found_usd > 0)
		log_error("a budget differed from its runs", f_text("budget", id),
		          f_float("usd", found_usd));
	*drift_usd += found_usd;
}

/* The transaction of a budget locks its account alone for as long as its runs are counted. The
 * processes share the budgets. */
void budgets_check(struct request *rq)
{
	static struct row_work work = {
		.row = "budget",
		.next_sql = BUDGET_NEXT_SQL,
		.run_sql = BUDGET_CHECK_DUE_SQL,
		.leave_out_sql = BUDGET_LEAVE_OUT_SQL,
		.done = on_checked,
	};
	double drift_usd = 0;
	rows_work(rq, &work, &drift_usd);
	metric_set(&drift_gauge, NULL, NULL, drift_usd);
}
