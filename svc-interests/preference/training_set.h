/** The training set of a preference model: a matrix with a label and a weight for each row.
 *
 * The first columns are the terms that occur in any row, in ascending order of id; the numbers of
 * the dense vector follow. The first rows are the examples; then come the interest's text, as one
 * more positive row, and the background. The text weighs nothing when it is that of an example. */
#pragma once

#include "preference/logistic.h"
#include "preference/preference.h"

/** Where a row comes from. */
enum row_group {
	ROW_POSITIVE,   /* an example with a positive signal */
	ROW_TEXT,       /* the interest's text: a positive row that is never used for validation */
	ROW_REJECTED,   /* an example with a negative signal */
	ROW_BACKGROUND, /* a paper of the background */
	ROW_GROUPS,
};

struct training_set {
	struct matrix matrix;
	const struct features **features; /* of each row */
	const struct features *text;      /* the interest's; NULL: none */
	double *labels;                   /* +1 or -1 */
	double *weights;                  /* >= 0, not yet balanced between the groups */
	enum row_group *groups;
	uint32_t *term_ids; /* ids of the first `term_count` columns */
	size_t term_count;
	uint32_t dense_length; /* number of columns after the terms */
	uint64_t dense_space;
	size_t positives; /* number of ROW_POSITIVE rows */
};

/** Whether an example is the paper that the interest's text was taken from. */
bool training_set_is_text(const struct training_set *set, size_t row);

/** Build the training set in `arena`. The first dense vector decides the dense space and length;
 * dense vectors of another space or length are ignored. */
struct training_set *training_set_new(struct arena *arena, const struct preference_input *input);
