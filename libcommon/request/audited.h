/** Changes of a service that the audit log names (gateway/audit/audit.h).
 *
 * Triggers on the tables (audit_row() in task/audit.fn.sql) tell of them by events of the service's
 * stream `events.audit.<schema>`, in the transaction of the change, so none is without its entry. A
 * handler that makes such a change begins its transaction with audited_begin(), which notes who
 * makes it. A service that asks another for such a change sends along who audited_by() says. */
#pragma once

#include "loop/request.h"

/** As pg_begin(), in a transaction whose changes are those of the request's caller; in a command,
 * of the operator. Left open, it is committed together with the answer
 * (request/http_service.h). */
void audited_begin(struct request *rq);

/** As audited_begin(), in the name of the caller of another service, which told it by audited_by().
 * NULL: that of this request. */
void audited_begin_for(struct request *rq, const char *by);

/** Who makes the request, as audit_emit() tells it: JSON text, in the request's arena. */
const char *audited_by(struct request *rq);
