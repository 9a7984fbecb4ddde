/** The faults of Postgres: one table from SQLSTATEs, and from what this folder finds itself, to our
 * error codes, sentences for clients and words for operators (observe/fault.h). */
#pragma once

#include "observe/fault.h"

/** Faults without a SQLSTATE, because the server did not answer. */
enum pg_fault_kind {
	PG_FAULT_UNAVAILABLE, /* nothing more is known */
	PG_FAULT_UNREACHABLE, /* no connection can be made */
	PG_FAULT_LOST,        /* the connection broke, and nothing was done */
	PG_FAULT_SILENT,      /* connections are open, and the server does not answer */
	PG_FAULT_POOL_FULL,   /* all connections of this process are in use */
	PG_FAULT_UNCERTAIN,   /* the connection broke after a write was sent */
	PG_FAULT_DEADLINE,    /* the request's deadline passed */
	PG_FAULT_CLIENT_GONE,
	PG_FAULT_INTERNAL, /* a SQLSTATE without a row, or a statement out of place */
	PG_FAULT_KINDS
};

const struct fault *pg_fault(enum pg_fault_kind kind);

/** The row of a SQLSTATE, never NULL; PG_FAULT_INTERNAL when there is none. */
const struct fault *pg_fault_of_sqlstate(const char *sqlstate);

/** The row that stands for a code alone: of a cancelled fiber, or of a failure that is raised
 * later. */
const struct fault *pg_fault_of_code(enum err_code code);

/** What a failed attempt to connect says. `message` is libpq's, with PQERRORS_VERBOSE: it contains
 * `FATAL:  53300: sorry, too many clients already`. PG_FAULT_UNREACHABLE without a SQLSTATE.
 * `ret_sqlstate` gets the SQLSTATE or "". */
const struct fault *pg_fault_of_message(const char *message, char ret_sqlstate[6]);

/** Count and log it; see fault_report(). `sqlstate` NULL: that of the row, if it has one. */
void pg_fault_report(const struct fault *fault, const char *sqlstate, const char *reason);

/** For /readyz: calls `cb` with the summary of each kind that was reported recently. */
void pg_faults_recent(void (*cb)(void *context, const char *summary), void *context);
