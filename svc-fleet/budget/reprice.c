/* `svc-fleet reprice`: in batches, each a transaction of its own, so that reports go on meanwhile.
 * A command that was stopped begins again. */
#include "budget/budget.h"
#include "main/arguments.h"
#include "main/command_run.h"
#include "pg/pg.h"
#include "reprice.sql.h"

#include <stdio.h>

struct arguments {
	const char *since;
};

static void reprice(struct request *rq)
{
	const struct arguments *arguments = rq->user;
	const char *last_at = NULL, *last_id = NULL;
	int64_t runs = 0, changed = 0, batch;
	do {
		struct pg_rows *rows = pg_query(rq, SPEND_REPRICE_SQL, pg_text(arguments->since),
		                                pg_text(last_at), pg_text(last_id));
		last_at = pg_get(rows, 0, "last_at");
		last_id = pg_get(rows, 0, "last_id");
		batch = pg_get_int(rows, 0, "runs");
		runs += batch;
		changed += pg_get_int(rows, 0, "changed");
	} while (batch > 0);
	printf("%lld of %lld estimates changed\n", (long long)changed, (long long)runs);
}

int reprice_command(struct process *process, int argc, char **argv)
{
	static const struct argument ARGUMENTS[] = {
		ARGUMENT_TEXT(struct arguments, since, "since"),
		ARGUMENT_END,
	};
	struct arguments arguments = {0};
	if (!options_read(argc, argv, ARGUMENTS, &arguments) || !arguments.since)
		return COMMAND_USAGE;
	return command_run(process, reprice, &arguments);
}
