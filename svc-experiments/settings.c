#include "settings.h"

struct experiments_settings experiments_settings;

const struct setting EXPERIMENTS_SETTINGS[] = {
	SETTING_MS(&experiments_settings.search_timeout_ms, "SEARCH_TIMEOUT", "3s", 10, 30000,
                   "How long an implementation's context waits for svc-search before it answers "
                   "without the paper."),
	SETTING_END,
};
