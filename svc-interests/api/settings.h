/** The settings of svc-interests, filled at start. */
#pragma once

#include "base/config.h"

#include <stdint.h>

struct interests_settings {
	int64_t pool_size;      /* candidates of an interest, besides those that were recommended */
	double half_life_days;  /* of a paper's recency */
	int64_t daily_hour;     /* UTC, from which on a day's run is due */
	int64_t daily_check_ms; /* how often it is looked whether it is */
};

extern struct interests_settings interests_settings;
extern const struct setting INTERESTS_SETTINGS[];
