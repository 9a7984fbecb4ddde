/* svc-evalenv: environments for evaluations, and what is evaluated in them. */
#include "build/build.h"
#include "build/catalogue.h"
#include "evidence/eval_evidence.h"
#include "main/service_main.h"
#include "queue/queue.h"
#include "queue/wakeup.h"
#include "result/result.h"
#include "retention/retention.h"
#include "run/run.h"
#include "run/run_results.h"
#include "service/repository_name.h"
#include "svc-evalenv-schema.h"
#include "template/template.h"
#include "vault/vault.h"
#include "worker/worker.h"

static const struct route ROUTES[] = {
	{API_ID_build_create, build_create},
	{API_ID_build_claim, build_claim},
	{API_ID_builds_list, build_list},
	{API_ID_build_get, build_get},
	{API_ID_build_cancel, build_cancel},
	{API_ID_build_context_get, build_context_get},
	{API_ID_build_heartbeat, build_heartbeat},
	{API_ID_build_report, build_report},
	{API_ID_eval_runs_list, run_list},
	{API_ID_eval_run_create, run_create},
	{API_ID_eval_run_claim, run_claim},
	{API_ID_eval_run_get, run_get},
	{API_ID_eval_run_cancel, run_cancel},
	{API_ID_eval_run_heartbeat, run_heartbeat},
	{API_ID_eval_result_deliver, result_deliver},
	{API_ID_eval_hosted_result_deliver, hosted_result_deliver},
	{API_ID_templates_list, template_list},
	{API_ID_template_create, template_create},
	{API_ID_template_get, template_get},
	{API_ID_template_update, template_update},
	{API_ID_template_lock, template_lock},
	{0},
};

static const struct internal_route INTERNAL_ROUTES[] = {
	{INTERNAL_ID_eval_evidence_get, eval_evidence_get},
	{INTERNAL_ID_eval_results_get, eval_results_get},
	{0},
};

static const struct job JOBS[] = {
	{"asset_update", asset_update_run},
	{0},
};

static const struct event_handler EVENTS[] = {
	{"events.code_host", "repository_name", on_repository_name},
	{0},
};

static const struct recurring RECURRING[] = {
	{"expire", work_expire, &WORK_EXPIRE_EVERY_MS},
	{"forget_deliveries", delivery_forget, &DELIVERY_FORGET_EVERY_MS},
	{"retention", evalenv_retention_keep, &EVALENV_RETENTION_EVERY_MS},
	{0},
};

static const struct command COMMANDS[] = {
	{"reseal", "reseal", "Seal all webhook secrets with the first of SEAL_KEYS.",
         reseal_command},
	{"worker", "worker", "Claim builds and runs, work at them and report.", worker_command,
         WORKER_SETTINGS},
	{"watch", "watch BUILD_ID", "Follow a build until it ends.", watch_command, WATCH_SETTINGS},
	{0},
};

static const struct service SERVICE = {
	.name = "svc-evalenv",
	.schema = "evalenv",
	.api = API_EVALENV,
	.routes = ROUTES,
	.internal_routes = INTERNAL_ROUTES,
	.settings =
		(const struct setting *const[]){TEMPLATE_SETTINGS, QUEUE_SETTINGS, WAKEUP_SETTINGS,
                                                DELIVERY_SETTINGS, EVALENV_RETENTION_SETTINGS,
                                                VAULT_SETTINGS, NULL},
	.settings_check = vault_init,
	.commands = COMMANDS,
	.jobs = JOBS,
	.events = EVENTS,
	.recurring = RECURRING,
	.process_start = wakeups_start,
	.process_stop = wakeups_stop,
	.worker_start = wakeup_worker_start,
	.worker_stop = wakeup_worker_stop,
	.background_start = wakeups_listen,
	.listens = true,
	.keeps_accounts = true,
	.tables = EVALENV_TABLES,
	.schema_definition = &SCHEMA,
};

int main(int argc, char **argv)
{
	return service_main(&SERVICE, argc, argv);
}
