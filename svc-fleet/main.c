/* svc-fleet: what the agents did, what it cost, and what came of it. */
#include "agent/agent.h"
#include "budget/budget.h"
#include "budget/reservation.h"
#include "candidate/rejection.h"
#include "candidate/run_evidence.h"
#include "chat/chat.h"
#include "code_host/code_host.h"
#include "export/export.h"
#include "inbox/inbox.h"
#include "llm/chat.h"
#include "loop/worker.h"
#include "main/service_main.h"
#include "outcome/outcome_cost.h"
#include "product/agent_pair.h"
#include "product/agent_workflow.h"
#include "report/report.h"
#include "report/today.h"
#include "retention/retention.h"
#include "run/repo_access.h"
#include "run/run.h"
#include "svc-fleet-schema.h"
#include "wording/wording.h"

static const struct route ROUTES[] = {
	{API_ID_fleet_runs_list, run_list},
	{API_ID_fleet_run_report, run_report},
	{API_ID_fleet_run_admit, run_admit},
	{API_ID_fleet_run_delete, run_delete},
	{API_ID_fleet_report_get, fleet_report_get},
	{API_ID_fleet_activity_get, activity_get},
	{API_ID_fleet_run_analyze, run_analyze},
	{API_ID_fleet_chat, fleet_chat},
	{API_ID_artifact_evidence_get, evidence_get},
	{API_ID_installations_list, installation_list},
	{API_ID_installation_revoke, installation_revoke},
	{API_ID_inbox_list, inbox_list},
	{API_ID_inbox_dismiss, inbox_dismiss},
	{API_ID_inbox_digest_get, inbox_digest_get},
	{API_ID_fleet_trigger, fleet_trigger},
	{API_ID_fleet_run_status_get, fleet_run_status_get},
	{API_ID_fleet_refresh, fleet_refresh},
	{API_ID_fleet_prices_get, fleet_prices_get},
	{API_ID_fleet_rejections_get, rejections_get},
	{API_ID_fleet_outcome_costs_get, outcome_costs_get},
	{API_ID_budget_put, budget_put},
	{API_ID_budgets_list, budget_list},
	{API_ID_budget_history_list, budget_history_list},
	{API_ID_budget_delete, budget_delete},
	{0},
};

static const struct internal_route INTERNAL_ROUTES[] = {
	{INTERNAL_ID_installation_record, installation_record},
	{INTERNAL_ID_run_reserve, run_reserve},
	{INTERNAL_ID_fleet_evidence_get, run_evidence_get},
	{INTERNAL_ID_run_attach, run_attach},
	{INTERNAL_ID_run_release, run_release},
	{0},
};

static const struct event_handler EVENTS[] = {
	{"events.account", "key.revoked", installation_key_revoked},
	{"events.account", "key.replaced", installation_key_replaced},
	{"events.account", "key.expiring", inbox_key_expiring},
	{"events.account", "key.updated", inbox_key_updated},
	{"events.experiments", "experiment.created", rejection_experiment_store},
	{"events.experiments", "experiment.updated", rejection_experiment_store},
	{"events.experiments", "experiment.deleted", rejection_experiment_store},
	{"events.experiments", "experiment.created", inbox_experiment},
	{"events.experiments", "experiment.updated", inbox_experiment},
	{"events.experiments", "experiment.deleted", inbox_experiment},
	{"events.code_host", "pull_request", on_code_host_item},
	{"events.code_host", "issues", on_code_host_item},
	{"events.code_host", "push", on_code_host_push},
	{"events.code_host", "workflow_run", on_code_host_run},
	{"events.code_host", "access", repo_access_lost},
	{"events.code_host", "endpoint", inbox_endpoint_disabled},
	{"events.code_host", "connection", inbox_connection_gone},
	{"events.code_host", "repository_name", on_code_host_name},
	{0},
};

static const struct recurring RECURRING[] = {
	{"run_partitions", run_partitions_make, &RUN_PARTITIONS_EVERY_MS},
	{"told_months", run_told_months_keep, &RUN_PARTITIONS_EVERY_MS},
	{"run_guards", run_guards_forget, &RUN_GUARDS_EVERY_MS},
	{"inbox", inbox_announce, &inbox_check_ms},
	{"prices", prices_refresh, &PRICES_EVERY_MS},
	{"budgets", budgets_check, &BUDGETS_CHECK_EVERY_MS},
	{"retention", fleet_retention_keep, &FLEET_RETENTION_EVERY_MS},
	{"old_rejections", fleet_rejections_keep, &FLEET_RETENTION_EVERY_MS},
	{"old_months", fleet_months_keep, &FLEET_RETENTION_EVERY_MS},
	{"old_facts", retained_tables_keep, &RETAINED_TABLES_EVERY_MS},
	{"reservations", reservations_expire, &RESERVATIONS_EVERY_MS},
	{"unusual_costs", costs_compare, &COSTS_COMPARE_EVERY_MS},
	{"today", today_measure, &TODAY_EVERY_MS},
	{0},
};

static const struct command COMMANDS[] = {
	{"reprice", "reprice --since DATE",
         "Estimate again what runs cost, by the prices of today's list.", reprice_command, NULL},
	{"export", "export --before DATE [--to FOLDER|s3://BUCKET/PREFIX]",
         "Write runs of before a day as files of JSON lines, one a day.", export_command, NULL},
	{0},
};

static enum err_code settings_check(void)
{
	enum err_code code = agents_init();
	enum err_code store_code = export_settings_check();
	code = code ? code : store_code;
	return code ? code : prices_init();
}

static void process_start(struct process *process)
{
	(void)process;
	chat_init();
}

static const struct service SERVICE = {
	.name = "svc-fleet",
	.schema = "fleet",
	.api = API_FLEET,
	.routes = ROUTES,
	.internal_routes = INTERNAL_ROUTES,
	.events = EVENTS,
	.settings = (const struct setting *const[]){AGENT_SETTINGS, AGENT_WORKFLOW_SETTINGS,
                                                    CHAT_SETTINGS, COST_SETTINGS, EXPORT_SETTINGS,
                                                    FLEET_RETENTION_SETTINGS, INBOX_SETTINGS,
                                                    PRICE_SETTINGS, WORDING_SETTINGS, NULL},
	.settings_check = settings_check,
	.process_start = process_start,
	.keeps_accounts = true,
	.tables = FLEET_TABLES,
	.schema_definition = &SCHEMA,
	.recurring = RECURRING,
	.commands = COMMANDS,
};

int main(int argc, char **argv)
{
	return service_main(&SERVICE, argc, argv);
}
