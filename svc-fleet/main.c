/* svc-fleet: what the agents did, what it cost, and what came of it. */
#include "run/run.h"
#include "service/service.h"
#include "svc-fleet-migrations.h"

static const struct route ROUTES[] = {
	{API_ID_fleet_runs_list, run_list},
	{API_ID_fleet_run_report, run_report},
	{0},
};

static const struct recurring RECURRING[] = {
	{"run_partitions", run_partitions_make, &RUN_PARTITIONS_EVERY_MS},
	{0},
};

static const struct service SERVICE = {
	.name = "svc-fleet",
	.schema = "fleet",
	.api = API_FLEET,
	.routes = ROUTES,
	.keeps_accounts = true,
	.migrations = MIGRATIONS,
	.recurring = RECURRING,
};

int main(int argc, char **argv)
{
	return service_main(&SERVICE, argc, argv);
}
