/** Changes of a service that the audit log names (gateway/audit/audit.h).
 *
 * Triggers on the tables (audit_row() in task/audit.fn.sql) tell of them by events of the service's
 * stream `events.audit.<schema>`, in the transaction of the change, so none is without its entry. A
 * handler that makes such a change begins its transaction with audited_begin(), which notes who
 * makes it. */
#pragma once

#include "loop/request.h"

/** As pg_begin(), in a transaction whose changes are those of the request's caller; in a command,
 * of the operator. Left open, it is committed together with the answer
 * (request/http_service.h). */
void audited_begin(struct request *rq);
