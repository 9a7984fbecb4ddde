#include "api/settings.h"

struct interests_settings interests_settings;

const struct setting INTERESTS_SETTINGS[] = {
	SETTING_INT(&interests_settings.pool_size, "POOL_SIZE", "300", 10, 900,
                    "Candidates that are kept for an interest, besides those already recommended."),
	SETTING_FLOAT(&interests_settings.half_life_days, "RECENCY_HALF_LIFE", "30", 1, 36500,
                      "Days after which being new counts half."),
	SETTING_INT(&interests_settings.daily_hour, "DAILY_HOUR", "0", 0, 23,
                    "Hour (UTC) from which on the day's recommendations are made."),
	SETTING_MS(&interests_settings.daily_check_ms, "DAILY_CHECK", "1m", 50, 3600000,
                   "How often it is looked whether the day's recommendations are due."),
	SETTING_END,
};
