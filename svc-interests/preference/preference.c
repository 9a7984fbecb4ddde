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
 * regularisation. Chosen on CiteULike (tests/bench/recommendation/preference_quality.c). */
#define LOGISTIC_WEIGHT_PER_POSITIVE 4.0

/* Evidence that the prior is better than the model, in standard deviations: one-sided, 5 %. To keep
 * the prior whenever its AUC is higher would go by chance where there are few likes: with three
 * likes the mean AUC on CiteULike falls from .82 to .78. */
#define PRIOR_EVIDENCE 1.64

/* Slope of the prior's logistic, per standard deviation of the background's similarities. */
#define PRIOR_SLOPE 1.5

/* Calibration of the prior without a background, for the typical similarity of an abstract to a
 * short text on the same topic. */
static const struct calibration prior_default = {20, -2.5};

/* The weights of the rows, balanced between the groups, in `arena`. Positives and text together
 * weigh `total`, and the background weighs `total`. A rejected paper weighs as much as a positive,
 * but all rejected papers together at most `total`. Rows of the fold `held_out` get the weight 0;
 * -1 holds out no fold. */
static double *balance(struct arena *arena, const struct training_set *set, const int *folds,
                       int held_out, double total)
{
	double *out = arena_array(arena, set->matrix.row_count, sizeof(double));
	double sums[ROW_GROUPS] = {0};
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
	return out;
}

/* The factors of the groups in a centroid. */
static const double centroid_factors[] = {
	[ROW_POSITIVE] = 1,
	[ROW_TEXT] = 1,
	[ROW_REJECTED] = -CENTROID_REJECTED,
	[ROW_BACKGROUND] = -1,
};

static const double *regression_weights(struct arena *arena, const struct training_set *set,
                                        const int *folds, int held_out)
{
	double total = LOGISTIC_WEIGHT_PER_POSITIVE * (double)set->positives;
	return balance(arena, set, folds, held_out, total);
}

/* Fits to all rows except those of the fold `held_out`; -1 holds out no fold. */
typedef struct linear fit_fn(struct arena *arena, const struct training_set *set, const int *folds,
                             int held_out);

/* The prior: similarity to the interest's text. */
static struct linear text_fit(struct arena *arena, const struct training_set *set, const int *folds,
                              int held_out)
{
	struct linear linear = {arena_array(arena, set->matrix.column_count, sizeof(double)), 0};
	(void)folds;
	(void)held_out;
	for (size_t i = 0; i < set->matrix.row_count; i++)
		if (set->groups[i] == ROW_TEXT)
			matrix_row_add(&set->matrix, i, 1, linear.weights);
	return linear;
}

static struct linear centroid_fit(struct arena *arena, const struct training_set *set,
                                  const int *folds, int held_out)
{
	struct linear linear = {arena_array(arena, set->matrix.column_count, sizeof(double)), 0};
	const double *weights = balance(arena, set, folds, held_out, 1);
	for (size_t i = 0; i < set->matrix.row_count; i++)
		matrix_row_add(&set->matrix, i, centroid_factors[set->groups[i]] * weights[i],
		               linear.weights);
	return linear;
}

static struct linear regression_fit(struct arena *arena, const struct training_set *set,
                                    const int *folds, int held_out)
{
	return logistic_fit(arena, &set->matrix, set->labels,
	                    regression_weights(arena, set, folds, held_out));
}

static fit_fn *const fits[] = {
	[PREFERENCE_PRIOR] = text_fit,
	[PREFERENCE_CENTROID] = centroid_fit,
	[PREFERENCE_LOGISTIC] = regression_fit,
};

/* Whether a row says how well a model ranks papers that it does not know: not the interest's text,
 * nor a paper that is the text. */
static bool is_validated(const struct training_set *set, size_t row)
{
	return set->groups[row] != ROW_TEXT &&
	       !(set->groups[row] == ROW_POSITIVE && training_set_is_text(set, row));
}

/* Assign the rows of each class to the folds in turn; rows that are not validated are in no
 * fold. */
static int *assign_folds(struct arena *arena, const struct training_set *set)
{
	int *folds = arena_array(arena, set->matrix.row_count, sizeof(int));
	int next[2] = {0, 0};
	int count = (int)MIN_OF((size_t)FOLDS, MAX_OF(set->positives, (size_t)2));
	for (size_t i = 0; i < set->matrix.row_count; i++) {
		int *turn = &next[set->labels[i] > 0];
		folds[i] = is_validated(set, i) ? (*turn)++ % count : FOLDS;
	}
	return folds;
}

/* Scores of held-out rows, of all folds. */
struct validation {
	enum preference_kind kind; /* of the model that was validated */
	double *scores;
	double *labels;
	/* of each positive row: the part of the negative ones of its fold below it */
	double *areas;
	size_t count;
	size_t area_count;
};

/* The AUC of each positive row among the rows from `first` on. */
static void add_areas(struct validation *done, size_t first)
{
	for (size_t i = first; i < done->count; i++) {
		double below = 0, others = 0;
		for (size_t j = first; done->labels[i] > 0 && j < done->count; j++) {
			if (done->labels[j] > 0)
				continue;
			double difference = done->scores[i] - done->scores[j];
			below += difference > 0 ? 1 : difference < 0 ? 0 : 0.5;
			others++;
		}
		if (others > 0)
			done->areas[done->area_count++] = below / others;
	}
}

static void validate_fold(struct validation *done, const struct training_set *set, const int *folds,
                          int fold)
{
	struct arena *scratch = arena_new();
	struct linear linear = fits[done->kind](scratch, set, folds, fold);
	size_t first = done->count;
	for (size_t i = 0; i < set->matrix.row_count; i++) {
		if (folds[i] != fold)
			continue;
		done->labels[done->count] = set->labels[i];
		done->scores[done->count++] =
			matrix_row_dot(&set->matrix, i, linear.weights) + linear.bias;
	}
	add_areas(done, first);
	arena_free(scratch);
}

static struct validation cross_validate(struct arena *arena, const struct training_set *set,
                                        const int *folds, enum preference_kind kind)
{
	size_t rows = set->matrix.row_count;
	struct validation done = {
		.kind = kind,
		.scores = arena_array(arena, rows, sizeof(double)),
		.labels = arena_array(arena, rows, sizeof(double)),
		.areas = arena_array(arena, rows, sizeof(double)),
	};
	for (int fold = 0; fold < FOLDS; fold++)
		validate_fold(&done, set, folds, fold);
	return done;
}

/* The mean AUC of the positive rows. */
static double validated_auc(const struct validation *validation)
{
	double sum = 0;
	for (size_t i = 0; i < validation->area_count; i++)
		sum += validation->areas[i];
	return validation->area_count > 0 ? sum / (double)validation->area_count : 0.5;
}

/* Whether one model ranks the positive rows higher than the other, by more than chance: a paired
 * test of their areas. */
static bool is_better(const struct validation *one, const struct validation *other)
{
	double sum = 0, squares = 0;
	for (size_t i = 0; i < one->area_count; i++) {
		double difference = one->areas[i] - other->areas[i];
		sum += difference;
		squares += difference * difference;
	}
	return sum > PRIOR_EVIDENCE * sqrt(squares);
}

/* The validation of the better of two models: of the one that the feedback is enough for, and of
 * the prior. */
static struct validation choose_kind(struct arena *arena, const struct training_set *set,
                                     const int *folds)
{
	struct validation learned =
		cross_validate(arena, set, folds,
	                       set->positives < PREFERENCE_LOGISTIC_MIN ? PREFERENCE_CENTROID
	                                                                : PREFERENCE_LOGISTIC);
	if (!set->text)
		return learned;
	struct validation prior = cross_validate(arena, set, folds, PREFERENCE_PRIOR);
	return is_better(&prior, &learned) ? prior : learned;
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

/* The coefficients of the examples, which are the first rows, in the weights of the model. A text's
 * have none: it is the text alone. */
static const double *example_coefficients(struct arena *arena, const struct training_set *set,
                                          const int *folds, enum preference_kind kind,
                                          const struct linear *linear, size_t count)
{
	double *out = arena_array(arena, count, sizeof(*out));
	const double *weights = kind == PREFERENCE_LOGISTIC
	                                ? regression_weights(arena, set, folds, -1)
	                                : balance(arena, set, folds, -1, 1);
	for (size_t i = 0; i < count && kind != PREFERENCE_PRIOR; i++)
		out[i] = kind == PREFERENCE_CENTROID
		                 ? centroid_factors[set->groups[i]] * weights[i]
		                 : logistic_coefficient(&set->matrix, i, set->labels[i], weights[i],
		                                        linear);
	return out;
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
	struct validation validation = choose_kind(scratch, set, folds);
	struct linear linear = fits[validation.kind](scratch, set, folds, -1);

	struct preference_model *model = arena_new_of(arena, struct preference_model);
	model->frequencies = input->frequencies;
	model->facts = (struct preference_facts){
		.kind = validation.kind,
		.examples = (uint32_t)input->example_count,
		.positives = (uint32_t)set->positives,
		.auc = validated_auc(&validation),
	};
	model->calibration =
		calibration_fit(validation.scores, validation.labels, validation.count);
	copy_weights(arena, model, set, &linear);
	model->coefficients = example_coefficients(arena, set, folds, validation.kind, &linear,
	                                           input->example_count);
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
	struct linear linear = text_fit(scratch, set, NULL, -1);
	struct preference_model *model = arena_new_of(arena, struct preference_model);
	model->frequencies = input->frequencies;
	model->facts = (struct preference_facts){.kind = PREFERENCE_PRIOR, .auc = 0.5};
	model->calibration = calibrate_prior(input);
	copy_weights(arena, model, set, &linear);
	arena_free(scratch);
	return model;
}
