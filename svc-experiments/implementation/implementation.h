/** svc-experiments/implementation/: what a coding agent needs to implement an experiment, and the
 * reports that it sends.
 *
 *     implementation.c  the operations
 *     paper.c           the paper of the experiment, from svc-search
 *     context.c         the context: the experiment, its paper, the paper's container and the brief
 *     brief.c           all of it as one Markdown document
 *     markdown.c        Markdown that contains texts of users and papers */
#pragma once

#include "loop/request.h"

/** Handlers of the operations implement_context_get, _reference_get, _status_get and _report. */
void implementation_context(struct request *rq);
void implementation_reference(struct request *rq);
void implementation_status(struct request *rq);
void implementation_report(struct request *rq);

/** The brief for an agent that a workflow starts (brief.h), of an experiment of the request's
 * account; in the arena. Suspends. Raises ERR_NOT_FOUND. */
const char *implementation_brief(struct request *rq, const char *experiment);
