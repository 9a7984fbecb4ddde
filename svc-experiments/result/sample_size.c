#include "statistics/sample_size.h"

#include "analysis/plan.h"
#include "input/input.h"
#include "reply/reply.h"
#include "result/result.h"

#include <math.h>
#include <string.h>

struct size_input {
	const char *kind, *mode;
	double baseline, variance, min_effect, alpha, power, rho;
	int64_t arms;
};

static const char *const KINDS[] = {"proportion", "mean", NULL};

#define BODY_FLOAT(m, f, lo, hi)                                                                  \
	{                                                                                         \
		IN_BODY, FIELD_FLOAT, #m, FIELD_AT(struct size_input, m, double), (f), (lo), (hi) \
	}

static const struct field FIELDS[] = {
	BODY_ENUM(struct size_input, kind, "kind", REQUIRED, KINDS),
	BODY_ENUM(struct size_input, mode, "mode", OPTIONAL, PLAN_MODES),
	BODY_FLOAT(baseline, REQUIRED, 0, 0),
	BODY_FLOAT(variance, OPTIONAL, 1e-300, 1e300),
	BODY_FLOAT(min_effect, REQUIRED, 1e-9, 100),
	BODY_FLOAT(alpha, OPTIONAL, 0.001, 0.2),
	BODY_FLOAT(power, OPTIONAL, 0.5, 0.99),
	BODY_FLOAT(rho, OPTIONAL, 1e-6, 10),
	BODY_INT(struct size_input, arms, "arms", OPTIONAL, 2, PLAN_ARMS_MAX, 2),
	FIELD_END,
};

static bool is_proportion(const struct size_input *in)
{
	return strcmp(in->kind, "proportion") == 0;
}

/* Rules that concern two members. */
static void check(struct request *rq, const struct size_input *in)
{
	struct problem *p = &rq->problem;
	if (in->baseline == 0)
		problem_add_field(rq->arena, p, "baseline", "must not be 0: effects are relative");
	if (is_proportion(in) && !(in->baseline > 0 && in->baseline < 1))
		problem_add_field(rq->arena, p, "baseline", "must be between 0 and 1");
	else if (is_proportion(in) && in->baseline * (1 + in->min_effect) >= 1)
		problem_add_field(rq->arena, p, "min_effect", "leads to a proportion of 1 or more");
	if (!is_proportion(in) && in->variance == 0)
		problem_add_field(rq->arena, p, "variance", "is required for a mean");
	raise_if_faults(rq);
}

/* Each treatment's test takes its share of alpha, as in the worst case of Holm's method. */
static struct testing testing_of(const struct size_input *in)
{
	struct testing how = {
		.alpha = (in->alpha > 0 ? in->alpha : 0.05) / (double)(in->arms - 1),
		.is_sequential = !in->mode || strcmp(in->mode, "sequential") == 0,
		.tuned_units = 1,
	};
	double rho_of_one = testing_rho(&how);
	how.tuned_units = in->rho > 0 ? rho_of_one * rho_of_one / (in->rho * in->rho) : 5000;
	return how;
}

static double size_for(const struct size_input *in, double min_effect)
{
	struct testing how = testing_of(in);
	double power = in->power > 0 ? in->power : 0.8, effect = min_effect * fabs(in->baseline);
	if (!is_proportion(in))
		return sample_size_of_means(effect, 2 * in->variance, power, &how);
	if (in->baseline + effect >= 1)
		return NAN;
	return sample_size_of_proportions(in->baseline, in->baseline + effect, power, &how);
}

/* A whole number; null: over SAMPLE_SIZE_MAX. */
static void add_size(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *name, double n)
{
	yyjson_mut_obj_add_val(doc, object, name,
	                       isfinite(n) ? yyjson_mut_sint(doc, (int64_t)n)
	                                   : yyjson_mut_null(doc));
}

/* How the size falls with the effect, around the one that is asked for. */
static yyjson_mut_val *curve(yyjson_mut_doc *doc, const struct size_input *in)
{
	static const double FACTORS[] = {0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4};
	yyjson_mut_val *points = yyjson_mut_arr(doc);
	for (size_t i = 0; i < ARRAY_LEN(FACTORS); i++) {
		double effect = FACTORS[i] * in->min_effect, n = size_for(in, effect);
		if (isnan(n))
			continue;
		yyjson_mut_val *point = yyjson_mut_arr_add_obj(doc, points);
		yyjson_mut_obj_add_real(doc, point, "min_effect", effect);
		add_size(doc, point, "n_per_arm", n);
	}
	return points;
}

void sample_size_get(struct request *rq)
{
	struct size_input *in = request_input(rq, struct size_input, FIELDS);
	check(rq, in);
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *answer = yyjson_mut_obj(doc);
	double n = size_for(in, in->min_effect);
	yyjson_mut_doc_set_root(doc, answer);
	add_size(doc, answer, "n_per_arm", n);
	add_size(doc, answer, "n_total", n * (double)in->arms);
	yyjson_mut_obj_add_val(doc, answer, "curve", curve(doc, in));
	reply_doc(rq, 200, doc);
}
