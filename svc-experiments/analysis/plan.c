#include "analysis/plan.h"

#include "base/base.h"
#include "input/field_check.h"

#include <string.h>

const char *const METRIC_KINDS[] = {"proportion", "mean",  "ratio", "quantile",
                                    "pass_at_k",  "suite", NULL};
static const char *const GIVEN_KINDS[] = {"proportion", "mean",      "ratio",
                                          "quantile",   "pass_at_k", NULL};
const char *const METRIC_GOALS[] = {"increase", "decrease", NULL};
const char *const METRIC_ROLES[] = {"primary", "secondary", "guardrail", NULL};
const char *const PLAN_MODES[] = {"sequential", "fixed", NULL};

#define JSON_KEY(n) JSON_TEXT(n, REQUIRED, 1, PLAN_KEY_MAX)

static const struct field ARM[] = {
	JSON_KEY("key"),
	JSON_TEXT("name", NULLABLE, 0, 200),
	JSON_FLOAT("weight", OPTIONAL, 0, 1e9),
	JSON_BOOL("control", OPTIONAL),
	FIELD_END,
};

static const struct field SCALE[] = {
	JSON_FLOAT("low", REQUIRED, 0, 0),
	JSON_FLOAT("high", REQUIRED, 0, 0),
	FIELD_END,
};

static const struct field METRIC[] = {
	JSON_KEY("key"),
	JSON_TEXT("name", NULLABLE, 0, 200),
	JSON_ENUM("kind", REQUIRED, GIVEN_KINDS),
	JSON_ENUM("goal", OPTIONAL, METRIC_GOALS),
	JSON_ENUM("role", OPTIONAL, METRIC_ROLES),
	JSON_FLOAT("min_effect", OPTIONAL, 1e-9, 100),
	JSON_FLOAT("max_harm", OPTIONAL, 1e-9, 100),
	JSON_INT("k", OPTIONAL, 1, 1000),
	JSON_FLOAT("quantile", OPTIONAL, 0.001, 0.999),
	JSON_OBJECT_OF("scale", OPTIONAL, SCALE),
	FIELD_END,
};

static const struct field CONFIG[] = {
	JSON_ARRAY_OF("arms", OPTIONAL, 2, PLAN_ARMS_MAX, ARM),
	JSON_ARRAY_OF("metrics", OPTIONAL, 0, PLAN_METRICS_MAX, METRIC),
	JSON_STRINGS("suite", OPTIONAL, 0, PLAN_METRICS_MAX, PLAN_KEY_MAX),
	JSON_ENUM("mode", OPTIONAL, PLAN_MODES),
	JSON_FLOAT("alpha", OPTIONAL, 0.001, 0.2),
	JSON_FLOAT("power", OPTIONAL, 0.5, 0.99),
	JSON_INT("planned_n", OPTIONAL, 2, 1e12),
	JSON_INT("planned_days", OPTIONAL, 1, 365),
	FIELD_END,
};

static const struct field HOLDER[] = {
	/* Its size is bounded where it is written. */
	{IN_BODY, FIELD_OBJECT, "ab_test_config", FIELD_NOWHERE, NULLABLE, .bytes_max = SIZE_MAX,
         .members = CONFIG},
	FIELD_END,
};

/* The place of a text among values; `fallback`: it is NULL. */
static int place_of(const char *const *values, const char *text, int fallback)
{
	for (int i = 0; text && values[i]; i++)
		if (strcmp(values[i], text) == 0)
			return i;
	return fallback;
}

int plan_arm(const struct plan *plan, const char *key)
{
	for (size_t i = 0; key && i < plan->arm_count; i++)
		if (strcmp(plan->arms[i].key, key) == 0)
			return (int)i;
	return -1;
}

int plan_metric(const struct plan *plan, const char *key)
{
	for (size_t i = 0; key && i < plan->metric_count; i++)
		if (strcmp(plan->metrics[i].key, key) == 0)
			return (int)i;
	return -1;
}

static void read_arms(struct arena *arena, yyjson_val *arms, struct problem *problem,
                      struct plan *plan)
{
	size_t index, count, controls = 0;
	double weight = 0;
	plan->arm_count = 0;
	yyjson_val *arm;
	yyjson_arr_foreach (arms, index, count, arm) {
		const char *key = json_get_text(arm, "key");
		if (plan_arm(plan, key) >= 0)
			problem_add_field(arena, problem, "ab_test_config.arms",
			                  "have the key \"%s\" twice", key);
		if (json_get_bool(arm, "control", false)) {
			plan->control = index;
			controls++;
		}
		weight += json_get_float(arm, "weight", 1);
		plan->arms[plan->arm_count++] =
			(struct planned_arm){key, json_get_float(arm, "weight", 1)};
	}
	if (controls != 1)
		problem_add_field(arena, problem, "ab_test_config.arms",
		                  "must have exactly one with \"control\": true");
	if (weight == 0)
		problem_add_field(arena, problem, "ab_test_config.arms", "must not all weigh 0");
}

static struct planned_metric metric_of(yyjson_val *metric, enum metric_role role)
{
	return (struct planned_metric){
		.key = json_get_text(metric, "key"),
		.kind = place_of(METRIC_KINDS, json_get_text(metric, "kind"), KIND_MEAN),
		.role = place_of(METRIC_ROLES, json_get_text(metric, "role"), role),
		.is_lower_better = place_of(METRIC_GOALS, json_get_text(metric, "goal"), 0) == 1,
		.min_effect = json_get_float(metric, "min_effect", 0.005),
		.max_harm = json_get_float(metric, "max_harm", 0.05),
		.quantile = json_get_float(metric, "quantile", 0.5),
		.k = json_get_int(metric, "k", 1),
		.scale_low = json_get_float(json_get(metric, "scale"), "low", 0),
		.scale_high = json_get_float(json_get(metric, "scale"), "high", 1),
	};
}

/* The first metric without a role is a primary one, unless there is a suite; others without a role
 * are secondary. */
static void read_metrics(struct arena *arena, yyjson_val *config, struct problem *problem,
                         struct plan *plan)
{
	size_t index, count;
	bool has_suite = yyjson_arr_size(json_get(config, "suite")) > 0;
	enum metric_role role = has_suite ? ROLE_SECONDARY : ROLE_PRIMARY;
	yyjson_val *metric;
	yyjson_arr_foreach (json_get(config, "metrics"), index, count, metric) {
		struct planned_metric m = metric_of(metric, role);
		if (plan_metric(plan, m.key) >= 0)
			problem_add_field(arena, problem, "ab_test_config.metrics",
			                  "have the key \"%s\" twice", m.key);
		if (!(m.scale_high > m.scale_low))
			problem_add_field(arena, problem, "ab_test_config.metrics",
			                  "must have a scale whose high is above its low");
		if (!json_get_text(metric, "role"))
			role = ROLE_SECONDARY;
		plan->metrics[plan->metric_count++] = m;
	}
}

/* The suite: a primary metric behind the others. */
static void read_suite(struct arena *arena, yyjson_val *config, struct problem *problem,
                       struct plan *plan)
{
	size_t index, count;
	yyjson_val *key;
	yyjson_arr_foreach (json_get(config, "suite"), index, count, key) {
		int metric = plan_metric(plan, yyjson_get_str(key));
		if (metric < 0)
			problem_add_field(arena, problem, "ab_test_config.suite",
			                  "has a key that is no metric");
		else
			plan->metrics[metric].is_in_suite = true;
	}
	if (index == 0)
		return;
	if (plan_metric(plan, "suite") >= 0)
		problem_add_field(arena, problem, "ab_test_config.metrics",
		                  "must not have the key \"suite\" beside a suite");
	plan->metrics[plan->metric_count++] = (struct planned_metric){.key = "suite",
	                                                              .kind = KIND_SUITE,
	                                                              .min_effect = 0.005,
	                                                              .max_harm = 0.05};
}

static void read_config(struct arena *arena, yyjson_val *config, struct problem *problem,
                        struct plan *plan)
{
	yyjson_val *arms = json_get(config, "arms");
	*plan = (struct plan){
		.arms = {{"control", 1}, {"treatment", 1}},
		.arm_count = 2,
		.mode = json_get_text(config, "mode"),
		.alpha = json_get_float(config, "alpha", 0.05),
		.power = json_get_float(config, "power", 0.8),
		.planned_n = (double)json_get_int(config, "planned_n", 0),
	};
	if (arms)
		read_arms(arena, arms, problem, plan);
	read_metrics(arena, config, problem, plan);
	read_suite(arena, config, problem, plan);
}

void plan_read(struct arena *arena, yyjson_val *holder, struct problem *problem, struct plan *ret)
{
	yyjson_val *config = json_get(holder, "ab_test_config");
	size_t faults = problem->field_count;
	if (!yyjson_is_obj(config))
		config = NULL;
	else
		field_check_members(arena, problem, holder, HOLDER);
	if (problem->field_count == faults)
		read_config(arena, config, problem, ret);
}
