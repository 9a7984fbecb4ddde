/** The word that an experiment gets, by one rule, from the comparison that speaks for it.
 *
 *     no_data, invalid   there is no valid test                                        not_tested
 *     too_early          there is one, which must not be looked at yet                 inconclusive
 *     better, worse      adjusted p <= alpha, and the interval excludes 0              significant
 *     equal              the relative interval lies within -+ min_effect               inconclusive
 *     unclear            else                                                          inconclusive
 *
 * p and interval are both asked, since McNemar's mid-p and Tango's interval may differ at the
 * border. */
#pragma once

#include "statistics/comparison.h"

enum verdict {
	VERDICT_NO_DATA,
	VERDICT_INVALID,
	VERDICT_TOO_EARLY,
	VERDICT_BETTER,
	VERDICT_WORSE,
	VERDICT_EQUAL,
	VERDICT_UNCLEAR,
};

/** What is asked of a valid comparison. */
struct verdict_question {
	const struct comparison *comparison;
	double p_adjusted, alpha;
	double min_effect; /* relative, > 0 */
	bool is_lower_better;
	bool is_early; /* too few units to look */
};

enum verdict verdict_of(const struct verdict_question *question);

/** `no_data`, `invalid`, `too_early`, `better`, `worse`, `equal` or `unclear`. */
const char *verdict_name(enum verdict verdict);

/** `not_tested`, `inconclusive` or `significant`. */
const char *verdict_confidence(enum verdict verdict);

enum guardrail {
	GUARDRAIL_SAFE,    /* the relative effect is not worse than max_harm */
	GUARDRAIL_AT_RISK, /* it may be */
	GUARDRAIL_HARMED,  /* the interval is on the bad side of 0 */
};

/** What a metric that must not get worse says; `max_harm` is relative, > 0. */
enum guardrail guardrail_of(const struct comparison *comparison, double max_harm,
                            bool is_lower_better);

const char *guardrail_name(enum guardrail guardrail);

/** What to do, as advice: `ship`, `stop`, `wait` or `iterate`. `worst` of the arm's guardrails;
 * `is_complete`: no more data will come. */
const char *verdict_advice(enum verdict verdict, enum guardrail worst, bool is_complete);
