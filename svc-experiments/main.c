#include "evaluation.h"
#include "experiment.h"
#include "implementation.h"
#include "paper.h"
#include "project.h"
#include "seed.h"
#include "service/service.h"
#include "svc-experiments-migrations.h"

static const struct route ROUTES[] = {
	{API_ID_experiments_list, experiment_list},
	{API_ID_experiment_create, experiment_create},
	{API_ID_experiment_get, experiment_get},
	{API_ID_experiment_update, experiment_update},
	{API_ID_experiment_delete, experiment_delete},
	{API_ID_implement_actionable_list, experiment_actionable},
	{API_ID_implement_context_get, implementation_context},
	{API_ID_implement_reference_get, implementation_reference},
	{API_ID_implement_report, implementation_report},
	{API_ID_implement_status_get, implementation_status},
	{API_ID_projects_list, project_list},
	{API_ID_project_create, project_create},
	{API_ID_project_get, project_get},
	{API_ID_project_update, project_update},
	{API_ID_project_delete, project_delete},
	{0},
};

static const struct event_handler EVENTS[] = {
	{"events.eval", NULL, evaluation_store, false},
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
	.events = EVENTS,
	.keeps_accounts = true,
	.migrations = MIGRATIONS,
	.settings = (const struct setting *const[]){PAPER_SETTINGS, NULL},
	.commands = COMMANDS,
};

int main(int argc, char **argv)
{
	return service_main(&SERVICE, argc, argv);
}
