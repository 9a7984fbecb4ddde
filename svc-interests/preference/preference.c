#include "preference/preference.h"

#include "preference/preference_model.h"
#include "preference/training_set.h"

#include <math.h>
#include <stdlib.h>

enum { FOLDS = 5 };

/* Factor of the mean of the rejected papers in a centroid, when there are as many of them as
 * positives. Rejected papers share the interest's topic, so the factor is small: Rocchio's 0.15 /
 * 0.75, rounded up (Manning et al., Introduction to Information Retrieval, 9.1.1). The background's
 * mean has the factor 1, which gave the best result on CiteULike. */
#define CENTROID_REJECTED 0.25

/* Total weight of the positive rows in the regression, per positive row: more weight means less
 * regularisation. Chosen on CiteULike (tests/bench/preference_quality.c). */
#define LOGISTIC_WEIGHT_PER_POSITIVE 4.0

/* Slope of the prior's logistic, per standard deviation of the background's similarities. */
#define PRIOR_SLOPE 1.5

/* Calibration of the prior without a background, for the typical similarity of an abstract to a
 * short text on the same topic. */
static const struct calibration prior_default = {20, -2.5};

/* Balance the weights of the groups, into `out`. Positives and text together weigh `total`, and the
 * background weighs `total`. A rejected paper weighs as much as a positive, but all rejected papers
 * together at most `total`. Rows of the fold `held_out` get the weight 0; -1 holds out no fold. */
static void balance(const struct training_set *set, const int *folds, int held_out, double total,
                    double *out)
{
	double sums[ROW_BACKGROUND + 1] = {0};
	for (size_t i = 0; i < set->matrix.row_count; i++) {
		out[i] = folds[i] == held_out ? 0 : set->weights[i];
		sums[set->groups[i]] += out[i];
	}
	double liked = sums[ROW_POSITIVE] + sums[ROW_TEXT];
	const double divisors[] = {
		[ROW_POSITIVE] = liked,
		[ROW_TEXT] = liked,
		[ROW_REJECTED] = fmax(liked, sums[ROW_REJECTED]),
		[ROW_BACKGROUND] = sums[ROW_BACKGROUND],
	};
	for (size_t i = 0; i < set->matrix.row_count; i++)
		out[i] = out[i] > 0 ? out[i] * total / divisors[set->groups[i]] : 0;
}

static struct linear centroid_fit(struct arena *arena, const struct training_set *set,
                                  const double *weights)
{
	static const double factors[] = {
		[ROW_POSITIVE] = 1,
		[ROW_TEXT] = 1,
		[ROW_REJECTED] = -CENTROID_REJECTED,
		[ROW_BACKGROUND] = -1,
	};
	struct linear linear = {arena_array(arena, set->matrix.column_count, sizeof(double)), 0};
	for (size_t i = 0; i < set->matrix.row_count; i++)
		matrix_row_add(&set->matrix, i, factors[set->groups[i]] * weights[i],
		               linear.weights);
	return linear;
}

/* Fit to all rows except those of the fold `held_out`. */
static struct linear fit_without(struct arena *arena, const struct training_set *set,
                                 const int *folds, int held_out)
{
	double *weights = arena_array(arena, set->matrix.row_count, sizeof(double));
	bool is_centroid = set->positives < PREFERENCE_LOGISTIC_MIN;
	double total = is_centroid ? 1 : LOGISTIC_WEIGHT_PER_POSITIVE * (double)set->positives;
	balance(set, folds, held_out, total, weights);
	return is_centroid ? centroid_fit(arena, set, weights)
	                   : logistic_fit(arena, &set->matrix, set->labels, weights);
}

/* Assign the rows of each class to the folds in turn. The interest's text is in no fold. */
static int *assign_folds(struct arena *arena, const struct training_set *set)
{
	int *folds = arena_array(arena, set->matrix.row_count, sizeof(int));
	int next[2] = {0, 0};
	int count = (int)MIN_OF((size_t)FOLDS, MAX_OF(set->positives, (size_t)2));
	for (size_t i = 0; i < set->matrix.row_count; i++) {
		int *turn = &next[set->labels[i] > 0];
		folds[i] = set->groups[i] == ROW_TEXT ? FOLDS : (*turn)++ % count;
	}
	return folds;
}

/* Scores of held-out rows, of all folds. */
struct validation {
	double *scores;
	double *labels;
	size_t count;
	double auc_sum;
	int auc_count;
};

static void validate_fold(struct validation *done, const struct training_set *set, const int *folds,
                          int fold)
{
	struct arena *scratch = arena_new();
	struct linear linear = fit_without(scratch, set, folds, fold);
	size_t first = done->count;
	for (size_t i = 0; i < set->matrix.row_count; i++) {
		if (folds[i] != fold)
			continue;
		done->labels[done->count] = set->labels[i];
		done->scores[done->count++] =
			matrix_row_dot(&set->matrix, i, linear.weights) + linear.bias;
	}
	double area = auc(done->scores + first, done->labels + first, done->count - first);
	if (!isnan(area)) {
		done->auc_sum += area;
		done->auc_count++;
	}
	arena_free(scratch);
}

static struct validation cross_validate(struct arena *arena, const struct training_set *set,
                                        const int *folds)
{
	struct validation done = {
		.scores = arena_array(arena, set->matrix.row_count, sizeof(double)),
		.labels = arena_array(arena, set->matrix.row_count, sizeof(double)),
	};
	for (int fold = 0; fold < FOLDS; fold++)
		validate_fold(&done, set, folds, fold);
	return done;
}

static int largest_first(const void *a, const void *b)
{
	const struct feature *left = a, *right = b;
	float x = fabsf(left->weight), y = fabsf(right->weight);
	if (x != y)
		return x < y ? 1 : -1;
	return term_id_compare(&left->id, &right->id);
}

/* Copy the weights of the columns into a model; keep the largest when there are too many. */
static void copy_weights(struct arena *arena, struct preference_model *model,
                         const struct training_set *set, const struct linear *linear)
{
	model->bias = linear->bias;
	model->terms = arena_array(arena, set->term_count, sizeof(*model->terms));
	for (size_t i = 0; i < set->term_count; i++) {
		float weight = (float)linear->weights[i];
		if (weight != 0)
			model->terms[model->term_count++] =
				(struct feature){set->term_ids[i], weight};
	}
	if (model->term_count > PREFERENCE_MAX_FEATURES) {
		qsort(model->terms, model->term_count, sizeof(*model->terms), largest_first);
		model->term_count = PREFERENCE_MAX_FEATURES;
		qsort(model->terms, model->term_count, sizeof(*model->terms), term_id_compare);
	}
	model->dense_length = set->dense_length;
	model->dense_space = set->dense_space;
	model->dense = arena_array(arena, set->dense_length, sizeof(float));
	for (uint32_t i = 0; i < set->dense_length; i++)
		model->dense[i] = (float)linear->weights[set->term_count + i];
	preference_index(arena, model);
}

/* What feedback is missing for a fit, or NULL. */
static const char *missing_feedback(struct arena *arena, const struct preference_input *input)
{
	size_t positives = 0;
	for (size_t i = 0; i < input->example_count; i++)
		positives += preference_signal_is_positive(input->examples[i].signal);
	size_t negatives = input->example_count - positives + input->background_count;
	if (positives < PREFERENCE_POSITIVES_MIN)
		return arena_printf(arena,
		                    "too little feedback: %zu of the %d positive signals needed; "
		                    "the model is unchanged",
		                    positives, PREFERENCE_POSITIVES_MIN);
	if (negatives < PREFERENCE_NEGATIVES_MIN)
		return "too little feedback: no other paper to compare with; the model is "
		       "unchanged";
	return NULL;
}

struct preference_model *preference_fit(struct arena *arena, const struct preference_input *input,
                                        const char **ret_message)
{
	const char *message = missing_feedback(arena, input);
	if (message) {
		*ret_message = message;
		return NULL;
	}
	struct arena *scratch = arena_new();
	struct training_set *set = training_set_new(scratch, input);
	int *folds = assign_folds(scratch, set);
	struct validation validation = cross_validate(scratch, set, folds);
	struct linear linear = fit_without(scratch, set, folds, -1);

	struct preference_model *model = arena_new_of(arena, struct preference_model);
	model->frequencies = input->frequencies;
	model->facts = (struct preference_facts){
		.kind = set->positives < PREFERENCE_LOGISTIC_MIN ? PREFERENCE_CENTROID
	                                                         : PREFERENCE_LOGISTIC,
		.examples = (uint32_t)input->example_count,
		.positives = (uint32_t)set->positives,
		.auc = validation.auc_count > 0 ? validation.auc_sum / validation.auc_count : 0.5,
	};
	model->calibration =
		calibration_fit(validation.scores, validation.labels, validation.count);
	copy_weights(arena, model, set, &linear);
	arena_free(scratch);
	return model;
}

/* The score is 0.5 one standard deviation above the background's mean similarity. */
static struct calibration calibrate_prior(const struct preference_input *input)
{
	double count = (double)input->background_count, sum = 0, squares = 0;
	for (size_t i = 0; i < input->background_count; i++) {
		double similarity = features_dot(input->interest, input->background[i]);
		sum += similarity;
		squares += similarity * similarity;
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
	struct training_set *set = training_set_new(scratch, &text_only);
	struct linear linear = {arena_array(scratch, set->matrix.column_count, sizeof(double)), 0};
	for (size_t i = 0; i < set->matrix.row_count; i++)
		matrix_row_add(&set->matrix, i, 1, linear.weights);

	struct preference_model *model = arena_new_of(arena, struct preference_model);
	model->frequencies = input->frequencies;
	model->facts = (struct preference_facts){.kind = PREFERENCE_PRIOR, .auc = 0.5};
	model->calibration = calibrate_prior(input);
	copy_weights(arena, model, set, &linear);
	arena_free(scratch);
	return model;
}
