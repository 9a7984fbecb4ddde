#include "retention/retention.h"

#define WITH_THE_RUN "with the run"
#define OF_A_REPO    "one row a repository"
#define BEFORE       " < (SELECT run_kept_since($1))"
#define DAY_BEFORE   " < (SELECT (run_kept_since($1) AT TIME ZONE 'UTC')::date)"

const struct retained_table FLEET_TABLES[] = {
	TABLE_AGES("run", "first_at", "RUN_DAYS", "to the end of the month"),
	TABLE_AGES("run_key", "first_at", "RUN_DAYS", WITH_THE_RUN),
	TABLE_AGES("run_text", "made_at", "RUN_DAYS", WITH_THE_RUN),
	TABLE_AGES("run_detail", "first_at", "RUN_DETAIL_DAYS", "a month at once"),
	TABLE_AGES("candidate", "first_at", "REJECTION_DAYS",
                   "what a run passed over; what it chose goes with the run"),
	TABLE_DELETED_BY_INDEX("run_day", "day", "RUN_DAYS", "with the last run of the day",
                               "t.day" DAY_BEFORE " AND t.runs = 0"),
	TABLE_DELETED_BY_INDEX(
		"run_export", "day", "RUN_DAYS", "with the last run of the day",
		"t.day" DAY_BEFORE
		" AND NOT EXISTS (SELECT FROM run r WHERE r.first_at >= day_begin(t.day)"
		" AND r.first_at < day_begin(t.day + 1))"),
	TABLE_DELETED("run_removed", "removed_at", "RUN_DAYS", "then runs are not told of any more",
                      "t.removed_at" BEFORE),
	TABLE_AGES("deliverable", "opened_at", "RUN_DAYS", "with the last run that opened it"),
	TABLE_AGES("deliverable_told", "told_on", NULL, "31 days, a month at once"),
	TABLE_DELETED("code_host_item", "opened_at", "RUN_DAYS", "without a deliverable",
                      "(t.state IS NULL OR greatest(t.opened_at, t.closed_at, t.told_at)" BEFORE
                      ") AND NOT EXISTS (SELECT FROM deliverable d WHERE d.repo_key = t.repo_key"
                      " AND d.kind = t.kind AND d.number = t.number)"),
	TABLE_DELETED("code_host_revert", "at", "RUN_DAYS", "by its time", "t.at" BEFORE),
	TABLE_AGES("cost_look", "first_at", NULL, "when the run was compared: half a minute"),
	TABLE_AGES("cost_unusual", "found_at", NULL, "400 days; with the account's next"),
	TABLE_DELETED("budget_period", "ends_at", "RUN_DAYS", "after its end; with the budget",
                      "t.ends_at" BEFORE),
	TABLE_BOUND("budget_notice", "with the period: one row a share of warn_percent"),
	TABLE_DELETED_BY_INDEX("reservation", "made_at", "RUN_DAYS", "when it is not held any more",
                               "t.made_at" BEFORE " AND t.state <> 'held'"),
	TABLE_DELETED("inbox_archived", "archived_at", "RUN_DAYS", "by its time",
                      "t.archived_at" BEFORE),
	TABLE_AGES("inbox_told", "told_at", NULL, "7 days; when the inbox is looked at"),
	TABLE_DELETED("experiment", "told_at", NULL,
                      "60 days after svc-experiments told that it was deleted",
                      "t.is_deleted AND t.told_at < now() - interval '60 days'"),
	TABLE_DELETED("installation", "installed_at", "RUN_DAYS", "after it was revoked",
                      "t.revoked_at" BEFORE),
	TABLE_BOUND("budget", "as many as the account sets"),
	TABLE_BOUND("admission", OF_A_REPO),
	TABLE_BOUND("connection_gone", "one row an account and provider"),
	TABLE_BOUND("endpoint_disabled", "one row an endpoint"),
	TABLE_BOUND("experiment_reminder", "two rows an experiment"),
	TABLE_BOUND("inbox_look", "one row an account"),
	TABLE_BOUND("key_expiring", "one row a key that expires soon"),
	TABLE_BOUND("owned_repo", OF_A_REPO),
	TABLE_BOUND("price", "the list of the version, or of PRICES_FILE"),
	TABLE_BOUND("price_list", "one row"),
	TABLE_BOUND("repo_access", OF_A_REPO),
	TABLE_BOUND("repo_fetch", OF_A_REPO),
	TABLE_BOUND("repo_guard", "emptied every minute of what nobody holds"),
	TABLE_BOUND("run_agent", "one row an agent, repository and outcome"),
	TABLE_BOUND("run_repo", OF_A_REPO),
	TABLE_BOUND("run_status", OF_A_REPO),
	TABLES_END,
};
