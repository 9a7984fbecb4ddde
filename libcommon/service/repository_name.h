/** Names of repositories, which change.
 *
 * The code host knows a repository by its number. svc-integrations sees it beside the name in every
 * delivery and in answers of the code host; when the name of a number is another than before, or is
 * the first, it informs the other services by an event of the stream events.code_host:
 *
 *     {"event": "repository_name", "action": "renamed", "repo": "acme/ranker-2",
 *      "former": "acme/ranker", "repository_id": 1296269, "version": 1769851800000000,
 *      "web_url": "https://github.com", "occurred_at": "2026-01-31T09:30:00.000Z",
 *      "installation_id": 123, "delivery_id": "72d3162e-…"}
 *
 * The `action` is `forgotten`, without a name, when the last account that the repository was
 * known of is deleted.
 *
 * A service keeps what it has of a repository under its name. Its SQL function repository_move()
 * moves that to the new name; repository_name.fn.sql says which name a service goes by, and why the
 * order of events does not matter. Statements that read use repository_key() or
 * repository_now() for a name that came from outside, and statements that write use
 * repository_hold(): so an old name leads to the repository until another one has taken it, and
 * nothing is stored under a name that is left behind.
 *
 * A service that reads these events has in its table of event handlers
 *
 *     {"events.code_host", "repository_name", on_repository_name},
 */
#pragma once

#include "pg/pg.h"
#include "task/task.h"

/** Event `repository_name`: move what the schema has of the repository to its new name. Suspends;
 * raises as pg_query(). */
void on_repository_name(struct request *rq, const struct event *event);

/** The number of the repository of an event of the code host, for repository_hold() and
 * repository_named() in SQL; NULL: the event has none. */
struct pg_param repository_number_of(struct request *rq, const struct event *event);

/** The name under which this service has the repository of an event. In the arena. Suspends. Raises
 * ERR_INVALID: the event names none. */
const char *repository_of_event(struct request *rq, const struct event *event);

/** Whether two names are of one repository: they are equal without case, or one is an old name.
 * When they differ, this service is asked first and then, outside a transaction, svc-integrations:
 * the services read of a rename one after the other, and an agent's key can have the new name
 * before they do, or the agent. Suspends only then. */
bool repository_is_same(struct request *rq, const char *one, const char *other);
