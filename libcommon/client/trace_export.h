/** Sends the spans of a process (observe/trace.h) to a collector, by OTLP over HTTP with JSON,
 * from a thread of its own: POST ENDPOINT/v1/traces, a batch each second at most.
 *
 * What the collector cannot take now (429, 502, 503, 504, or no connection) is sent again with
 * backoff, five times; meanwhile spans wait in the bounded queue, and are dropped when it is full.
 * Requests never wait. */
#pragma once

#include "base/config.h"

/** OTEL_EXPORTER_OTLP_ENDPOINT and its like. */
extern const struct setting TRACE_SETTINGS[];

/** Check what the table cannot. ERR_INVALID: printed on standard error. */
enum err_code trace_settings_check(void);

/** Begin, if an endpoint is set. `instance` names this run of the process. Borrows. Once, before
 * other threads. */
void trace_export_start(const char *process, const char *instance);

/** Send what waits, for at most two seconds, and end. */
void trace_export_stop(void);
