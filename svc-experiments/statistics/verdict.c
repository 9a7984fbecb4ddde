#include "statistics/verdict.h"

#include <math.h>

static const struct {
	const char *name, *confidence;
} WORDS[] = {
	[VERDICT_NO_DATA] = {"no_data", "not_tested"},
	[VERDICT_INVALID] = {"invalid", "not_tested"},
	[VERDICT_TOO_EARLY] = {"too_early", "inconclusive"},
	[VERDICT_BETTER] = {"better", "significant"},
	[VERDICT_WORSE] = {"worse", "significant"},
	[VERDICT_EQUAL] = {"equal", "inconclusive"},
	[VERDICT_UNCLEAR] = {"unclear", "inconclusive"},
};

const char *verdict_name(enum verdict verdict)
{
	return WORDS[verdict].name;
}

const char *verdict_confidence(enum verdict verdict)
{
	return WORDS[verdict].confidence;
}

/* False where the relative interval has no bounds. */
static bool is_within(const struct comparison *c, double min_effect)
{
	return c->relative_low >= -min_effect && c->relative_high <= min_effect;
}

enum verdict verdict_of(const struct verdict_question *question)
{
	const struct comparison *c = question->comparison;
	bool excludes_0 = c->low > 0 || c->high < 0;
	if (isnan(c->p))
		return VERDICT_INVALID;
	if (question->is_early)
		return VERDICT_TOO_EARLY;
	if (question->p_adjusted <= question->alpha && excludes_0)
		return (c->effect < 0) == question->is_lower_better ? VERDICT_BETTER
		                                                    : VERDICT_WORSE;
	return is_within(c, question->min_effect) ? VERDICT_EQUAL : VERDICT_UNCLEAR;
}

enum guardrail guardrail_of(const struct comparison *c, double max_harm, bool is_lower_better)
{
	double bad_side = is_lower_better ? c->low : -c->high;
	double worst = is_lower_better ? c->relative_high : -c->relative_low;
	if (bad_side > 0)
		return GUARDRAIL_HARMED;
	return worst <= max_harm ? GUARDRAIL_SAFE : GUARDRAIL_AT_RISK;
}

const char *guardrail_name(enum guardrail guardrail)
{
	static const char *const NAMES[] = {"safe", "at_risk", "harmed"};
	return NAMES[guardrail];
}

const char *verdict_advice(enum verdict verdict, enum guardrail worst, bool is_complete)
{
	static const char *const BETTER[] = {"ship", "wait", "iterate"};
	switch (verdict) {
	case VERDICT_BETTER:
		return BETTER[worst];
	case VERDICT_WORSE:
		return "stop";
	case VERDICT_EQUAL:
		return "iterate";
	case VERDICT_UNCLEAR:
		return is_complete ? "iterate" : "wait";
	default:
		return "wait";
	}
}
