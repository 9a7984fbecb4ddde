#include "ranking/calibration.h"

#include <math.h>

static double clamp(double value, double least, double greatest)
{
	return isnan(value) ? 0 : fmin(fmax(value, least), greatest);
}

double relevance_log_odds(const struct relevance_signals *signals)
{
	double evidence = clamp(signals->retrieval, 0, 1) + clamp(signals->preference_lift, -1, 1);
	return RELEVANCE_INTERCEPT + RELEVANCE_SLOPE * evidence;
}

double relevance_calibrate(const struct relevance_signals *signals)
{
	double probability = 1 / (1 + exp(-relevance_log_odds(signals)));
	return probability * (1 - REFUSAL_PENALTY * clamp(signals->refusal, 0, 1));
}

bool relevance_is_below(double relevance, const char *author, double level)
{
	return !author && relevance < level;
}
