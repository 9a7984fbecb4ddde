#include "budget/row_work.h"

#include "crypto/uuid.h"
#include "loop/wait.h"
#include "observe/log.h"
#include "observe/metrics.h"

#include <stdio.h>

#define ROW_TIMEOUT_MS 20000

METRIC_COUNTER(faults_total, "expops_budget_faults_total",
               "Rows that recurring work of budgets has left out, as the database refused them or "
               "they took too long.",
               "row");

/* A row that has its turn. */
struct turn {
	const struct row_work *work;
	const char *id;
	void *context;
	bool is_done;
	const char *fault; /* in the arena of the pass; NULL: none */
	struct arena *arena;
};

/* A member of the pass. */
static void turn_run(struct request *rq)
{
	struct turn *turn = rq->user;
	pg_begin(rq);
	const struct pg_rows *rows = pg_query(rq, turn->work->run_sql, pg_text(turn->id));
	pg_commit(rq);
	turn->is_done = pg_get_bool(rows, 0, "is_done");
	turn->fault = arena_strdup(turn->arena, pg_get(rows, 0, "fault"));
	if (turn->is_done && turn->work->done)
		turn->work->done(rows, turn->id, turn->context);
}

static void report(const struct turn *turn)
{
	metric_add(&faults_total, turn->work->row, NULL, 1);
	log_error("a row of budgets has a fault, and is left out", f_text("row", turn->work->row),
	          f_text("id", turn->id), f_text("error", turn->fault));
}

/* Whether the row had work. One that concurrent work was in the way of is left to the next pass. */
static bool turn_give(struct request *rq, struct turn *turn)
{
	struct problem problem;
	fiber_spawn_within(rq, ROW_TIMEOUT_MS, turn_run, turn);
	enum err_code code = fiber_join_try(rq, &problem);
	if (code == ERR_TIMEOUT) {
		turn->fault = "it takes too long";
		turn->is_done = true;
		pg_query(rq, turn->work->leave_out_sql, pg_text(turn->id));
	} else if (code && code != ERR_CONTENTION) {
		raise_problem(rq, &problem);
	}
	if (turn->fault)
		report(turn);
	return turn->is_done;
}

/* From the last row that had its turn to the end of the table. */
static bool round_give(struct request *rq, struct row_work *work, void *context, int64_t *count)
{
	bool is_any = false;
	for (;;) {
		const struct uuid none = {0};
		struct pg_rows *due =
			pg_query(rq, work->next_sql,
		                 work->after[0] ? pg_text(work->after) : pg_uuid(none));
		for (int i = 0; i < due->count; i++) {
			struct turn turn = {.work = work, .context = context, .arena = rq->arena};
			turn.id = pg_value(due, i);
			snprintf(work->after, sizeof(work->after), "%s", turn.id);
			is_any |= turn_give(rq, &turn);
			*count += turn.is_done && !turn.fault;
		}
		if (pg_empty(due))
			break;
	}
	work->after[0] = '\0';
	return is_any;
}

int64_t rows_work(struct request *rq, struct row_work *work, void *context)
{
	int64_t count = 0;
	bool is_whole, is_any;
	do {
		is_whole = !work->after[0];
		is_any = round_give(rq, work, context, &count);
	} while (is_any || !is_whole);
	return count;
}
