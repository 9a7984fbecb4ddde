/** Group commit: statements of one text that requests share, of whatever accounts.
 *
 * A commit, the start of a statement and a message to the server cost more than a row. So while
 * such a statement runs, other requests of the worker for the same one wait, and then it runs once
 * for all of them. A request that finds none running does not wait. Nobody waits long for a slow
 * one: when it takes twice as long as is usual, and at least 20 ms, the next request starts another
 * one beside it, and after a second those that wait do.
 *
 *     a request -> none runs: at once, alone
 *               -> waits, accounts in turn (pacing/fair_queue.h) -> runs with others -> its own row
 *                                         failed: runs with half of them, ..., and at last alone
 *
 * A request gives its parameters as for pg_query(). The statement takes an array of each, with an
 * element for each request, its item, and answers with at most one row for each. The first column
 * is the number of the item, from 1; the request gets the others:
 *
 *     -- name: label_create(accounts, names)
 *     -- An item each (pg/batch.h).
 *     WITH item AS (SELECT * FROM unnest(:accounts::uuid[], :names::text[])
 *                                 WITH ORDINALITY AS i (account, name, n)),
 *          made AS (INSERT INTO label (account_id, name) SELECT account, name FROM item
 *                   ORDER BY account, name RETURNING label)
 *     SELECT n, label_json(label) FROM item JOIN made ...
 *
 *     pg_batch_query(rq, LABEL_CREATE_SQL, pg_uuid(rq->caller.account), pg_text(name));
 *
 * What one account can do to others. When a statement fails because of one of its items, the server
 * has rolled all back, and it runs for each half of them, until the item that is to blame fails
 * alone; its account shares no statement for a second. A statement with several items that writes
 * waits for a lock for 200 ms at most, which is such a failure, and runs for two seconds at most;
 * the item that is to blame then goes on alone without these limits. Two such statements must not
 * wait for each other in a circle: one that locks rows does so in an order that the items do not
 * change, by account first.
 */
#pragma once

#include "pg/pg.h"

/** A batch that has so many items or bytes takes no more. */
#define PG_BATCH_MAX       32
#define PG_BATCH_BYTES_MAX ((size_t)1 << 20)

/** How long a statement with several items waits for a lock: "200ms". Tests change it. */
extern const char *pg_batch_lock_timeout;

/** Run the statement for an item. Suspends. `ret_rows` gets the row of this item alone. Failures
 * and `ret_constraint` are those of pg_try(). `sql` is a literal. In a transaction the item runs
 * there, at once and alone. */
#define pg_batch_try(rq, ret_rows, ret_constraint, sql, ...) \
	pg_batch_try_after((rq), (ret_rows), (ret_constraint), NULL, &PG_CALL((sql), ##__VA_ARGS__))

/** As pg_batch_try(), but raises the failure. */
#define pg_batch_query(rq, sql, ...) \
	pg_batch_query_after((rq), NULL, &PG_CALL((sql), ##__VA_ARGS__))

/** As pg_batch_try(), for an item with a statement of its own, `first`, which runs before the
 * shared one and in its transaction. Both are done, or neither. Its rows are dropped. It also waits
 * for a lock for a second at most when it is alone. NULL: none. */
enum err_code pg_batch_try_after(struct request *rq, struct pg_rows **ret_rows,
                                 const char **ret_constraint, const struct pg_call *first,
                                 const struct pg_call *item);

/** As pg_batch_try_after(), but raises the failure. */
struct pg_rows *pg_batch_query_after(struct request *rq, const struct pg_call *first,
                                     const struct pg_call *item);
