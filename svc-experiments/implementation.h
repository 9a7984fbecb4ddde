/** Implementing an experiment: what an agent is handed, and what it reports. */
#pragma once

#include "loop/request.h"

/** Handlers of the operations implement_context_get, _reference_get, _status_get and _report. */
void implementation_context(struct request *rq);
void implementation_reference(struct request *rq);
void implementation_status(struct request *rq);
void implementation_report(struct request *rq);
