/** The faults of Redis: one table from error replies, and from what this folder finds itself, to
 * our error codes, sentences for clients and words for operators (observe/fault.h). */
#pragma once

#include "observe/fault.h"

#include <stdbool.h>

/** Faults that no reply names. */
enum redis_fault_kind {
	REDIS_FAULT_UNREACHABLE, /* no connection can be made */
	REDIS_FAULT_LOST,        /* the connection broke */
	REDIS_FAULT_SILENT,      /* the connection is open, and Redis does not answer */
	REDIS_FAULT_UNVERIFIED,  /* its certificate is refused */
	REDIS_FAULT_REFUSED,     /* Redis refuses the connection for a reason that has no row */
	REDIS_FAULT_KINDS
};

const struct fault *redis_fault(enum redis_fault_kind kind);

/** The fault that an error reply names, also one inside a script's error; NULL: the command is
 * wrong, not the server. */
const struct fault *redis_fault_of(const char *error);

/** Whether the server that sent the error reply is a replica: the master may be another one by
 * now. */
bool redis_fault_is_of_replica(const char *error);

/** Count and log it; see fault_report(). `reason` may be NULL. */
void redis_fault_report(const struct fault *fault, const char *reason);

/** For /readyz: calls `cb` with the summary of each kind that was reported recently. */
void redis_faults_recent(void (*cb)(void *context, const char *summary), void *context);
