/** Waking workers that wait for work, on whichever replica they wait.
 *
 * A worker's claim that finds nothing waits here. Work that is queued sends a notification of
 * Postgres when its transaction commits (work_notify() in queue.fn.sql). The
 * background worker of each process listens, on the connection that it listens on anyway, and
 * passes the notification to the event loops that serve requests. Each wakes the one claim that has
 * waited for longest and may take the work, so that a hundred waiting workers do not ask the
 * database for one build. A claim that ends without having used its wake-up passes it on, and so
 * does one of a key that is limited to a repository when it finds nothing: a notification does not
 * say of which repository the work is.
 *
 * A lost notification delays work by WORK_LOOK_AGAIN at most: then each waiting claim looks again.
 */
#pragma once

#include "base/config.h"
#include "loop/request.h"
#include "loop/worker.h"

/** WORK_LOOK_AGAIN, CLAIMS_WAITING_MAX. */
extern const struct setting WAKEUP_SETTINGS[];

/** For struct service: process_start, process_stop, worker_start, worker_stop, background_start. */
void wakeups_start(struct process *process);
void wakeups_stop(struct process *process);
void wakeup_worker_start(struct worker *worker);
void wakeup_worker_stop(struct worker *worker);
void wakeups_listen(struct worker *background);

/** A claim that waits. */
struct waiter;

/** Begin to wait for work of a kind, of one account (UUID text) or of all (NULL), of one repository
 * or of all (NULL), for `wait_ms`. Borrows the texts. To miss nothing, call it before looking for
 * work. It ends with the request, or with waiter_leave(). */
struct waiter *waiter_join(struct request *rq, const char *kind, const char *account,
                           const char *repo, uint64_t wait_ms);

/** Wait until there may be work: true. False: the time is over, or the process is stopping.
 * Suspends. Raises ERR_RATE_LIMITED when CLAIMS_WAITING_MAX claims of the account wait already. */
bool waiter_wait(struct request *rq, struct waiter *waiter);

/** The claim has found work. */
void waiter_leave(struct request *rq, struct waiter *waiter);
