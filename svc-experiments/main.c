#include "evidence/evidence.h"
#include "evidence/snapshot.h"
#include "experiment/evaluation.h"
#include "experiment/experiment.h"
#include "experiment/key_experiments.h"
#include "experiment/project.h"
#include "experiment/seed.h"
#include "implementation/implementation.h"
#include "implementation/paper.h"
#include "main/service_main.h"
#include "product/agent_workflow.h"
#include "result/linked_run.h"
#include "result/result.h"
#include "retention/tables.h"
#include "run/run.h"
#include "service/repository_name.h"
#include "svc-experiments-schema.h"
#include "ticket/ticket.h"

static const struct route ROUTES[] = {
	{API_ID_experiments_list, experiment_list},
	{API_ID_experiment_create, experiment_create},
	{API_ID_experiments_compare, experiments_compare},
	{API_ID_experiment_get, experiment_get},
	{API_ID_experiment_update, experiment_update},
	{API_ID_experiment_delete, experiment_delete},
	{API_ID_results_get, result_get},
	{API_ID_result_create, result_create},
	{API_ID_sample_size_get, sample_size_get},
	{API_ID_ticket_get, ticket_get},
	{API_ID_experiment_evidence_get, evidence_get},
	{API_ID_asset_outcomes_get, paper_outcomes_get},
	{API_ID_ticket_comment, ticket_comment},
	{API_ID_implement_actionable_list, experiment_actionable},
	{API_ID_implement_context_get, implementation_context},
	{API_ID_implement_reference_get, implementation_reference},
	{API_ID_implement_report, implementation_report},
	{API_ID_implement_run, run_start},
	{API_ID_implement_status_get, implementation_status},
	{API_ID_projects_list, project_list},
	{API_ID_project_create, project_create},
	{API_ID_project_get, project_get},
	{API_ID_project_update, project_update},
	{API_ID_project_delete, project_delete},
	{0},
};

static const struct internal_route INTERNAL_ROUTES[] = {
	{INTERNAL_ID_experiment_access_get, key_experiment_access},
	{INTERNAL_ID_project_outline_get, project_outline_get},
	{0},
};

static const struct job JOBS[] = {
	{"implementation", run_job, .acts_for_caller = true},
	{"implementation_check", run_check, .acts_for_caller = true},
	{"workflow_cancel", run_workflow_cancel, .acts_for_caller = true},
	{"reservation_release", run_reservation_release},
	{"results_collect", results_collect},
	{"evidence_keep", evidence_keep},
	{"project_detach", project_detach, .is_long = true, .timeout_ms = 3600000},
	{0},
};

static const struct event_handler EVENTS[] = {
	{"events.eval", "run.succeeded", evaluation_store},
	{"events.eval", "run.failed", evaluation_store},
	{"events.eval", "run.cancelled", evaluation_store},
	{"events.eval", "run.timed_out", evaluation_store},
	{"events.runs", "run.measured", linked_run_measured},
	{"events.runs", "run.removed", linked_run_removed},
	{"events.code_host", "pull_request", on_run_pull_request},
	{"events.code_host", "workflow_run", on_run_workflow},
	{"events.code_host", "repository_name", on_repository_name},
	{0},
};

static const struct recurring RECURRING[] = {
	{"run-deadlines", run_check_due, &run_check_every_ms},
	{0},
};

static const struct command COMMANDS[] = {
	{"seed", "seed FILE --user UUID", "Load a JSON file of experiments into an account.",
         seed_command},
	{0},
};

static const struct service SERVICE = {
	.name = "svc-experiments",
	.schema = "experiments",
	.api = API_EXPERIMENTS,
	.routes = ROUTES,
	.internal_routes = INTERNAL_ROUTES,
	.jobs = JOBS,
	.events = EVENTS,
	.recurring = RECURRING,
	.keeps_accounts = true,
	.tables = EXPERIMENTS_TABLES,
	.schema_definition = &SCHEMA,
	.settings = (const struct setting *const[]){EXPERIMENT_SETTINGS, PAPER_SETTINGS,
                                                    RUN_SETTINGS, AGENT_WORKFLOW_SETTINGS, NULL},
	.commands = COMMANDS,
};

int main(int argc, char **argv)
{
	return service_main(&SERVICE, argc, argv);
}
