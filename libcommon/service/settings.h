/** The settings that have one meaning in every process (worker.h). */
#pragma once

#include "base/config.h"
#include "loop/worker.h"

extern struct process_settings process_settings;
extern const struct setting PROCESS_SETTINGS[];

/** Fill process_settings and check what a table cannot: addresses, URLs and the secret.
 * ERR_INVALID: after one line on standard error for each bad or missing variable. */
enum err_code process_settings_load(void);
