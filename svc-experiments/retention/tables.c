#include "retention/tables.h"

const struct retained_table EXPERIMENTS_TABLES[] = {
	TABLE_BOUND("experiment", "as many as the account makes"),
	TABLE_BOUND("experiment_count", "some rows an account"),
	TABLE_BOUND("experiment_evidence", "the newest 20 an experiment"),
	TABLE_BOUND("experiment_history", "the newest 10,000 an experiment, and of those 16 MiB"),
	TABLE_BOUND("experiment_paper", "one row a paper that the experiment names"),
	TABLE_BOUND("experiment_result", "the newest 100 an experiment"),
	TABLE_BOUND("implementation", "the newest 1,000 attempts an experiment"),
	TABLE_BOUND("implementation_step", "some rows an attempt"),
	TABLE_BOUND("linked_run",
                    "the newest of each arm, 1,000 of telemetry and 200 evaluations an experiment"),
	TABLE_BOUND("project", "as many as the account makes"),
	TABLE_BOUND("report", "the newest 1,000 an experiment"),
	TABLE_BOUND("ticket", "one row an experiment, of its ticket"),
	TABLES_END,
};
