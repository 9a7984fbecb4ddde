#include "analysis/members.h"

#define JSON_NUMBER(n) JSON_FLOAT(n, OPTIONAL, -NUMBER_MAX, NUMBER_MAX)
#define JSON_SQUARE(n) JSON_FLOAT(n, OPTIONAL, -SQUARE_MAX, SQUARE_MAX)

static const struct field ARM_SUMS[] = {
	JSON_TEXT("arm", REQUIRED, 1, PLAN_KEY_MAX),
	JSON_INT("n", REQUIRED, 1, COUNT_MAX),
	JSON_NUMBER("successes"),
	JSON_NUMBER("sum"),
	JSON_SQUARE("sum_squares"),
	JSON_NUMBER("mean"),
	JSON_SQUARE("variance"),
	JSON_NUMBER("denominator_sum"),
	JSON_SQUARE("denominator_sum_squares"),
	JSON_SQUARE("sum_products"),
	JSON_NUMBER("value"),
	JSON_NUMBER("lower"),
	JSON_NUMBER("upper"),
	JSON_NUMBER("pre_sum"),
	JSON_SQUARE("pre_sum_squares"),
	JSON_SQUARE("pre_sum_products"),
	FIELD_END,
};

const struct field METRIC_SUMS[] = {
	JSON_TEXT("key", REQUIRED, 1, PLAN_KEY_MAX),
	JSON_ARRAY_OF("arms", REQUIRED, 1, PLAN_ARMS_MAX, ARM_SUMS),
	FIELD_END,
};

const struct field RESULT_ROW[] = {
	JSON_TEXT("arm", REQUIRED, 1, PLAN_KEY_MAX),
	JSON_ID("example", OPTIONAL, 200),
	JSON_ID("sample", OPTIONAL, 200),
	JSON_ID("group", OPTIONAL, 200),
	JSON_OBJECT("metrics", REQUIRED),
	FIELD_END,
};
