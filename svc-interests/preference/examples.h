/** The rows that a preference model is fitted to: vectors laid out as a matrix, with label and
 * weight.
 *
 * Columns are the features that occur in any row, in rising order of id, then the numbers of the
 * dense block. Rows are the examples, then the interest's text (as one more positive), then the
 * background. */
#pragma once

#include "preference/logistic.h"
#include "preference/preference.h"

/** Where a row comes from. */
enum row_group {
	ROW_POSITIVE,   /* an example with a positive signal */
	ROW_TEXT,       /* the interest's own text: trains as a positive, is never tested on */
	ROW_REJECTED,   /* an example with a negative signal */
	ROW_BACKGROUND, /* a paper of the pool */
};

struct example_rows {
	struct matrix matrix;
	double *labels;  /* +1 or -1 */
	double *weights; /* > 0, not yet balanced between the groups */
	enum row_group *groups;
	uint32_t *term_ids; /* id of each of the first `term_count` columns */
	size_t term_count;
	uint32_t dense_length; /* columns after the terms */
	uint64_t dense_space;
	size_t positives; /* rows of ROW_POSITIVE */
};

/** Lay out the input, in `arena`. The dense block is that of the first vector that has one; others'
 * count only when they are of its space and length. */
struct example_rows *example_rows_new(struct arena *arena, const struct preference_input *input);
