/** The service's own settings. */
#pragma once

#include "base/config.h"

#include <stdint.h>

struct experiments_settings {
	int64_t search_timeout_ms;
};

extern struct experiments_settings experiments_settings;
extern const struct setting EXPERIMENTS_SETTINGS[];
