/** Recurring work on rows of many accounts, a row at a time: each in a transaction of its own, and
 * for 20 seconds at most. A row that has a fault or takes longer is left out and reported. It does
 * not stop those behind it: a pass begins where the one before has ended. */
#pragma once

#include "loop/request.h"
#include "pg/pg.h"

#include <stdint.h>

#define ROW_ID_SIZE 37 /* a UUID as text */

/** A kind of work. One worker of a process does it. */
struct row_work {
	const char *row; /* what a row is, in logs and metrics: `budget`, `reservation`, `costs` */
	/* Statements with one parameter, the id of a row. */
	const char *next_sql; /* the ids of some that are due behind the row, in their order */
	/* `is_done`, whether there was work, and `fault`, why the database has refused it, or
	 * NULL. */
	const char *run_sql;
	const char *leave_out_sql; /* the row takes too long: it is not due now */
	/* What else comes of a row; NULL: nothing. `context` is that of rows_work(). */
	void (*done)(const struct pg_rows *rows, const char *id, void *context);
	char after[ROW_ID_SIZE]; /* the last row that had its turn; "": none */
};

/** Give all rows that are due their turn, over and over until none has work. How many had, without
 * a fault. What other processes hold is left to them. Suspends. */
int64_t rows_work(struct request *rq, struct row_work *work, void *context);
