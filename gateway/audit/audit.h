/** gateway/audit/: the audit log, who changed what.
 *
 *     audit.c   noting who makes a change, and refusals (this header)
 *     log.c     reading the log: GET /account/audit
 *
 * Entries are added by triggers (audit.fn.sql) in the transaction of the change, so there is none
 * without its entry. A handler that changes something begins its transaction with audit_begin(),
 * which notes who makes the change.
 *
 * The log belongs to another role of the database (deploy/audit.sql): this process adds entries and
 * reads them, and can neither change nor remove one but by the three functions there.
 */
#pragma once

#include "base/config.h"
#include "loop/request.h"
#include "pg/pg.h"
#include "task/task.h"

#include <yyjson.h>

struct api_match;
struct http_head;
struct rate_limiter;

/** AUDIT_DAYS. */
extern const struct setting AUDIT_SETTINGS[];

/** As pg_begin(), in a transaction whose changes are those of the caller: who acts with the key or
 * session of the request, a service, or the operator in a command. Of an operation that needs no
 * key, they are those of the person of whom the change is. */
void audit_begin(struct request *rq);

/** The same on behalf of who acts with `key`; NULL: as audit_begin(). */
void audit_begin_as(struct request *rq, const char *key);

/** The same on behalf of the caller of a service, which told it by audited_by(); NULL: of the
 * service. */
void audit_begin_for(struct request *rq, yyjson_val *by);

/** Who makes a request, unless a service does; in the arena. */
struct audit_client {
	struct pg_param address, user_agent;
};
struct audit_client audit_client_of(struct request *rq);

/** Event `audit` of a service: add the entry of a change that it has made. */
void audit_event(struct request *rq, const struct event *event);

/** A request that was refused. */
struct audit_refusal {
	struct worker *worker;
	const char *request_id;
	const struct api_match *match;
	const struct http_head *head;
	const char *peer;
	const struct identity *caller;
};

/** The limit of refusals that are noted: ten a minute of each key. */
struct rate_limiter *audit_limiter_new(void);

/** Note in the account of the caller that the request was refused, if it would have changed the
 * team, and the limit of its key allows. It is written by a request of its own, since that of the
 * caller is rolled back; nobody waits for it. Copies. */
void audit_refused(const struct audit_refusal *refusal);

/** The same of the request of a handler, which then raises. */
void audit_refused_here(struct request *rq);

/** Recurring work: make the months to come, and drop those that are older than AUDIT_DAYS. */
void audit_months_keep(struct request *rq);
extern const int64_t AUDIT_MONTHS_EVERY_MS;
