/** Statements that requests of one account share.
 *
 * A commit, the start of a statement and a message to the server cost more than a row. So the
 * requests of an account that come for a statement while it runs for that account wait, and the
 * next one runs for all of them. A request that comes alone does not wait.
 *
 * Such a statement takes items, each of a request. It answers with at most one row for each item.
 * The first column is the number of the item, from 1; the request gets the others:
 *
 *     $1 account, $2 a JSON array of the items
 *
 * Requests of different accounts never share a statement, so no account waits for another one's
 * locks, or fails with it. When a batch fails because of one of its items, nothing was done, and
 * each item runs alone.
 */
#pragma once

#include "pg/pg.h"

/** A batch that has so many items or bytes takes no more. */
#define PG_BATCH_MAX       32
#define PG_BATCH_BYTES_MAX ((size_t)256 << 10)

/** Run the statement for the item `json` and the account of the request. Suspends. `ret_rows` gets
 * the row of this item alone. Failures and `ret_constraint` are those of pg_try(). `sql` is a
 * literal; `json` is borrowed until the call returns. In a transaction the item runs there, at once
 * and alone. */
enum err_code pg_batch_try(struct request *rq, struct pg_rows **ret_rows,
                           const char **ret_constraint, const char *sql, const char *json);

/** As pg_batch_try(), but raises the failure. */
struct pg_rows *pg_batch_query(struct request *rq, const char *sql, const char *json);
