/** A list as CSV (json/csv.h): a header, and a line for each row, of up to CSV_ROWS_MAX. It is sent
 * while it is read, so that neither has to be in memory as a whole.
 *
 * Which rows there are is known from one statement, before the first is sent; the rows themselves
 * are read some at a time. One that is deleted meanwhile is left out, and none comes twice. */
#pragma once

#include "loop/request.h"

struct pg_rows;

#define CSV_ROWS_MAX 10000

/** Of a kind of list. */
struct csv_list {
	const char *name; /* of the file, without `.csv` */
	/* Members of a row, those of objects in it with a point: `error.kind`. NULL ends them. */
	const char *const *columns;
	/* An object in a row whose members are columns, too, named in the outline; NULL: none */
	const char *others;
	/* Read rows by ids, a JSON array: a row with a JSON array of objects, in the order of ids.
	 * Where these may be large, it reads those of the first ids only, at least of one, and a
	 * second column `taken` says of how many. Suspends. */
	struct pg_rows *(*read)(struct request *rq, const char *ids);
};

/** Reply 200 with the list. `outline` is a row with the columns `ids`, a JSON array of at most
 * CSV_ROWS_MAX; `names`, one of the columns of `others`; and `total`, how many rows match, which is
 * in the field X-Total-Count. Suspends until all is sent. */
void reply_csv(struct request *rq, const struct csv_list *list, const struct pg_rows *outline);
