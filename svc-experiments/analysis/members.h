/** What a body of results may have, for a table of input fields (input/input.h). Numbers are so
 * bounded that their squares, added up, are finite. */
#pragma once

#include "analysis/plan.h"
#include "input/input.h"

#define ROWS_MAX   200000
#define ROWS_BYTES ((size_t)8 << 20) /* of JSON */
#define SUMS_BYTES ((size_t)1 << 20)

/** Units of an arm, and the largest sum or value and square of one. */
#define COUNT_MAX  1e15
#define NUMBER_MAX 1e100
#define SQUARE_MAX 1e200

/** Of a metric in `metrics`, and of a row in `rows`. */
extern const struct field METRIC_SUMS[], RESULT_ROW[];

/** The rows of the table: those of sums (sums.h), rows (rows.h) and evaluation runs. */
#define RESULT_MEMBERS                                                                          \
	JSON_OBJECT("units", OPTIONAL), JSON_INT("multiple_exposures", OPTIONAL, 0, COUNT_MAX), \
		{IN_BODY,                                                                       \
	         FIELD_ARRAY,                                                                   \
	         "metrics",                                                                     \
	         FIELD_NOWHERE,                                                                 \
	         OPTIONAL,                                                                      \
	         1,                                                                             \
	         PLAN_METRICS_MAX,                                                              \
	         .bytes_max = SUMS_BYTES,                                                       \
	         .members = METRIC_SUMS},                                                       \
		{IN_BODY,                                                                       \
	         FIELD_ARRAY,                                                                   \
	         "rows",                                                                        \
	         FIELD_NOWHERE,                                                                 \
	         OPTIONAL,                                                                      \
	         1,                                                                             \
	         ROWS_MAX,                                                                      \
	         .bytes_max = ROWS_BYTES,                                                       \
	         .members = RESULT_ROW},                                                        \
		JSON_OBJECT("eval_runs", OPTIONAL)
