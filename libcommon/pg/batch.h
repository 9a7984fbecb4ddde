/** Statements that requests of one account share.
 *
 * A commit, the start of a statement and a message to the server cost more than a row. So a statement
 * of a batch takes the items of several requests: while one runs for an account, the requests of that
 * account which come for the same statement wait, and the next one runs for all of them. A request
 * that comes alone does not wait.
 *
 * Such a statement has two parameters. It answers with at most one row for each item; the first
 * column is the item's number, from 1, which the request does not get:
 *
 *     $1 account, $2 a JSON array of the items
 *
 * Requests of different accounts never share a statement, so no account waits for another one's
 * locks, or fails with it. When a batch fails because of one of its items, nothing was done, and
 * each item runs alone.
 */
#pragma once

#include "pg/pg.h"

/** At most so many items, or so many bytes and one item more, are in a batch. */
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
