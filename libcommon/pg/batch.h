/** Statements that requests of one account share.
 *
 * A commit, the start of a statement and a message to the server cost more than a row. So while
 * such a statement runs for an account, other requests of the account for the same statement wait,
 * and then it runs once for all of them. A request that finds none running does not wait. Nobody
 * waits long for a slow one: after 20 ms the next request starts another one beside it, and after a
 * second those that wait do.
 *
 * Such a statement takes items, each of a request. It answers with at most one row for each item.
 * The first column is the number of the item, from 1; the request gets the others:
 *
 *     $1 account, $2 a JSON array of the items
 *
 * Requests of different accounts never share a statement, so no account waits for another one's
 * locks, or fails with it. When a statement fails because of one of its items, the server has
 * rolled all back, and each request runs it for its own item. Two such statements must not wait for
 * each other in a circle: one that locks rows does so in an order that the items do not change.
 */
#pragma once

#include "pg/pg.h"

/** A batch that has so many items or bytes takes no more. */
#define PG_BATCH_MAX       16
#define PG_BATCH_BYTES_MAX ((size_t)256 << 10)

/** Run the statement for the item `json` and the account of the request. Suspends. `ret_rows` gets
 * the row of this item alone. Failures and `ret_constraint` are those of pg_try(). `sql` is a
 * literal; `json` is borrowed until the call returns. In a transaction the item runs there, at once
 * and alone. */
enum err_code pg_batch_try(struct request *rq, struct pg_rows **ret_rows,
                           const char **ret_constraint, const char *sql, const char *json);

/** As pg_batch_try(), but raises the failure. */
struct pg_rows *pg_batch_query(struct request *rq, const char *sql, const char *json);
