#include "preference/preference.h"

#include "preference/examples.h"
#include "preference/preference_model.h"

#include <math.h>
#include <stdlib.h>

enum { FOLDS = 5 };

/* How much of the mean of rejected papers a centroid takes off, when there are as many as
 * positives. They are of the interest's subject too, so a part only: Rocchio's 0.15 over 0.75,
 * rounded up (Manning et al., Introduction to Information Retrieval, 9.1.1). The background's mean
 * comes off whole; on CiteULike that did better than any part of it. */
#define CENTROID_REJECTED 0.25

/* Weight of the positives in the regression, for each of them: how far feedback may bend the
 * weights against their regularisation. Chosen on CiteULike (tests/bench/preference_quality.c). */
#define LOGISTIC_WEIGHT_PER_POSITIVE 4.0

/* A prior's logistic rises by this much per standard deviation of the background's likeness. */
#define PRIOR_SLOPE 1.5

/* Where the prior's 0.5 lies and how steep it is when there is no background to look at: likeness
 * of an abstract to a short text on the same subject. */
static const struct calibration prior_default = {20, -2.5};

/* Make weights of rows out of those of single examples, rows of the fold `held_out` (or none: -1)
 * getting 0. Positives and text sum to `total`, and so does the background. A rejected paper weighs
 * what a positive does, but all of them together no more than `total`. */
static void balance(const struct example_rows *rows, const int *folds, int held_out, double total,
                    double *out)
{
	double sums[ROW_BACKGROUND + 1] = {0};
	for (size_t i = 0; i < rows->matrix.row_count; i++) {
		out[i] = folds[i] == held_out ? 0 : rows->weights[i];
		sums[rows->groups[i]] += out[i];
	}
	double liked = sums[ROW_POSITIVE] + sums[ROW_TEXT];
	const double divisors[] = {
		[ROW_POSITIVE] = liked,
		[ROW_TEXT] = liked,
		[ROW_REJECTED] = fmax(liked, sums[ROW_REJECTED]),
		[ROW_BACKGROUND] = sums[ROW_BACKGROUND],
	};
	for (size_t i = 0; i < rows->matrix.row_count; i++)
		out[i] = out[i] > 0 ? out[i] * total / divisors[rows->groups[i]] : 0;
}

static struct linear centroid_fit(struct arena *arena, const struct example_rows *rows,
                                  const double *weights)
{
	static const double factors[] = {
		[ROW_POSITIVE] = 1,
		[ROW_TEXT] = 1,
		[ROW_REJECTED] = -CENTROID_REJECTED,
		[ROW_BACKGROUND] = -1,
	};
	struct linear linear = {arena_array(arena, rows->matrix.column_count, sizeof(double)), 0};
	for (size_t i = 0; i < rows->matrix.row_count; i++)
		matrix_row_add(&rows->matrix, i, factors[rows->groups[i]] * weights[i],
		               linear.weights);
	return linear;
}

/* Fit to all rows but those of a fold. */
static struct linear fit_without(struct arena *arena, const struct example_rows *rows,
                                 const int *folds, int held_out)
{
	double *weights = arena_array(arena, rows->matrix.row_count, sizeof(double));
	bool is_centroid = rows->positives < PREFERENCE_LOGISTIC_MIN;
	double total = is_centroid ? 1 : LOGISTIC_WEIGHT_PER_POSITIVE * (double)rows->positives;
	balance(rows, folds, held_out, total, weights);
	return is_centroid ? centroid_fit(arena, rows, weights)
	                   : logistic_fit(arena, &rows->matrix, rows->labels, weights);
}

/* Deal the rows of each class out to the folds in turn; the interest's text is in none of them. */
static int *deal_folds(struct arena *arena, const struct example_rows *rows)
{
	int *folds = arena_array(arena, rows->matrix.row_count, sizeof(int));
	int next[2] = {0, 0};
	int count = (int)MIN_OF((size_t)FOLDS, MAX_OF(rows->positives, (size_t)2));
	for (size_t i = 0; i < rows->matrix.row_count; i++) {
		int *turn = &next[rows->labels[i] > 0];
		folds[i] = rows->groups[i] == ROW_TEXT ? FOLDS : (*turn)++ % count;
	}
	return folds;
}

/* Scores of rows by models that have not seen them, laid side by side. */
struct validation {
	double *scores;
	double *labels;
	size_t count;
	double auc_sum;
	int auc_count;
};

static void validate_fold(struct validation *done, const struct example_rows *rows,
                          const int *folds, int fold)
{
	struct arena *scratch = arena_new();
	struct linear linear = fit_without(scratch, rows, folds, fold);
	size_t first = done->count;
	for (size_t i = 0; i < rows->matrix.row_count; i++) {
		if (folds[i] != fold)
			continue;
		done->labels[done->count] = rows->labels[i];
		done->scores[done->count++] =
			matrix_row_dot(&rows->matrix, i, linear.weights) + linear.bias;
	}
	double area = auc(done->scores + first, done->labels + first, done->count - first);
	if (!isnan(area)) {
		done->auc_sum += area;
		done->auc_count++;
	}
	arena_free(scratch);
}

static struct validation cross_validate(struct arena *arena, const struct example_rows *rows,
                                        const int *folds)
{
	struct validation done = {
		.scores = arena_array(arena, rows->matrix.row_count, sizeof(double)),
		.labels = arena_array(arena, rows->matrix.row_count, sizeof(double)),
	};
	for (int fold = 0; fold < FOLDS; fold++)
		validate_fold(&done, rows, folds, fold);
	return done;
}

static int heaviest_first(const void *a, const void *b)
{
	const struct feature *left = a, *right = b;
	float x = fabsf(left->weight), y = fabsf(right->weight);
	if (x != y)
		return x < y ? 1 : -1;
	return (left->id > right->id) - (left->id < right->id);
}

static int rising_id(const void *a, const void *b)
{
	uint32_t left = ((const struct feature *)a)->id;
	uint32_t right = ((const struct feature *)b)->id;
	return (left > right) - (left < right);
}

/* Take weights over columns into a model, the heaviest where there are too many. */
static void take_weights(struct arena *arena, struct preference_model *model,
                         const struct example_rows *rows, const struct linear *linear)
{
	model->bias = linear->bias;
	model->terms = arena_array(arena, rows->term_count, sizeof(*model->terms));
	for (size_t i = 0; i < rows->term_count; i++) {
		float weight = (float)linear->weights[i];
		if (weight != 0)
			model->terms[model->term_count++] =
				(struct feature){rows->term_ids[i], weight};
	}
	if (model->term_count > PREFERENCE_MAX_FEATURES) {
		qsort(model->terms, model->term_count, sizeof(*model->terms), heaviest_first);
		model->term_count = PREFERENCE_MAX_FEATURES;
		qsort(model->terms, model->term_count, sizeof(*model->terms), rising_id);
	}
	model->dense_length = rows->dense_length;
	model->dense_space = rows->dense_space;
	model->dense = arena_array(arena, rows->dense_length, sizeof(float));
	for (uint32_t i = 0; i < rows->dense_length; i++)
		model->dense[i] = (float)linear->weights[rows->term_count + i];
	preference_index(arena, model);
}

static const char *too_little(struct arena *arena, const struct preference_input *input)
{
	size_t positives = 0;
	for (size_t i = 0; i < input->example_count; i++)
		positives += preference_signal_is_positive(input->examples[i].signal);
	size_t negatives = input->example_count - positives + input->background_count;
	if (positives < PREFERENCE_POSITIVES_MIN)
		return arena_printf(arena,
		                    "too little feedback: %zu positive of the %d needed; "
		                    "the prior model stays",
		                    positives, PREFERENCE_POSITIVES_MIN);
	if (negatives < PREFERENCE_NEGATIVES_MIN)
		return "too little feedback: nothing to compare with; the prior model stays";
	return NULL;
}

struct preference_model *preference_fit(struct arena *arena, const struct preference_input *input,
                                        const char **ret_message)
{
	const char *message = too_little(arena, input);
	if (message != NULL) {
		*ret_message = message;
		return NULL;
	}
	struct arena *scratch = arena_new();
	struct example_rows *rows = example_rows_new(scratch, input);
	int *folds = deal_folds(scratch, rows);
	struct validation validation = cross_validate(scratch, rows, folds);
	struct linear linear = fit_without(scratch, rows, folds, -1);

	struct preference_model *model = arena_new_of(arena, struct preference_model);
	model->frequencies = input->frequencies;
	model->facts = (struct preference_facts){
		.kind = rows->positives < PREFERENCE_LOGISTIC_MIN ? PREFERENCE_CENTROID
	                                                          : PREFERENCE_LOGISTIC,
		.examples = (uint32_t)input->example_count,
		.positives = (uint32_t)rows->positives,
		.auc = validation.auc_count > 0 ? validation.auc_sum / validation.auc_count : 0.5,
	};
	model->calibration =
		calibration_fit(validation.scores, validation.labels, validation.count);
	take_weights(arena, model, rows, &linear);
	arena_free(scratch);
	return model;
}

/* 0.5 one standard deviation above the background's mean. */
static struct calibration calibrate_prior(const struct preference_input *input)
{
	double count = (double)input->background_count, sum = 0, squares = 0;
	for (size_t i = 0; i < input->background_count; i++) {
		double likeness = features_dot(input->interest, input->background[i]);
		sum += likeness;
		squares += likeness * likeness;
	}
	double mean = count > 0 ? sum / count : 0;
	double deviation = count > 0 ? sqrt(fmax(0, squares / count - mean * mean)) : 0;
	if (!(deviation > 1e-6))
		return prior_default;
	double slope = PRIOR_SLOPE / deviation;
	return (struct calibration){slope, -slope * (mean + deviation)};
}

struct preference_model *preference_prior(struct arena *arena, const struct preference_input *input)
{
	struct preference_input text_only = {.interest = input->interest};
	struct arena *scratch = arena_new();
	struct example_rows *rows = example_rows_new(scratch, &text_only);
	struct linear linear = {arena_array(scratch, rows->matrix.column_count, sizeof(double)), 0};
	for (size_t i = 0; i < rows->matrix.row_count; i++)
		matrix_row_add(&rows->matrix, i, 1, linear.weights);

	struct preference_model *model = arena_new_of(arena, struct preference_model);
	model->frequencies = input->frequencies;
	model->facts = (struct preference_facts){.kind = PREFERENCE_PRIOR, .auc = 0.5};
	model->calibration = calibrate_prior(input);
	take_weights(arena, model, rows, &linear);
	arena_free(scratch);
	return model;
}
