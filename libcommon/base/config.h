/** Settings: environment variables, declared in one table per process.
 *
 *     static struct search_settings { int64_t merge_docs; const char *data_dir; } settings;
 *     static const struct setting TABLE[] = {
 *             SETTING_INT(&settings.merge_docs, "MERGE_DOCS", "4096", 16, 1000000,
 *                         "Documents in the live segment before a merge."),
 *             SETTING_TEXT(&settings.data_dir, "DATA_DIR", "",
 *                          "Where the snapshot is kept; empty: nowhere."),
 *             SETTING_END,
 *     };
 *
 * The table also prints --help and --show-config. A bad value ends the start with one line that
 * names the variable, `MERGE_DOCS: "abc" is not an integer (16 to 1000000)`. A secret's value is
 * never printed. A default that is refused itself is a bug (require()).
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum setting_type { SET_END, SET_TEXT, SET_INT, SET_FLOAT, SET_BOOL, SET_DURATION_MS, SET_BYTES };

struct setting {
	enum setting_type type;
	bool is_secret;
	void *target; /* const char **, int64_t * (INT, DURATION_MS, BYTES), double * or bool * */
	const char *name;
	const char *fallback; /* text form of the default; NULL: must be set */
	double min, max;      /* of numbers; both 0: no bound */
	const char *help;     /* one sentence */
};

#define SETTING_ROW(type, is_secret, target, name, fallback, min, max, help)            \
	{                                                                               \
		(type), (is_secret), (target), (name), (fallback), (min), (max), (help) \
	}
#define SETTING_TEXT(t, n, d, h)          SETTING_ROW(SET_TEXT, false, t, n, d, 0, 0, h)
#define SETTING_SECRET(t, n, d, h)        SETTING_ROW(SET_TEXT, true, t, n, d, 0, 0, h)
#define SETTING_INT(t, n, d, lo, hi, h)   SETTING_ROW(SET_INT, false, t, n, d, lo, hi, h)
#define SETTING_FLOAT(t, n, d, lo, hi, h) SETTING_ROW(SET_FLOAT, false, t, n, d, lo, hi, h)
#define SETTING_BOOL(t, n, d, h)          SETTING_ROW(SET_BOOL, false, t, n, d, 0, 0, h)
#define SETTING_MS(t, n, d, lo, hi, h)    SETTING_ROW(SET_DURATION_MS, false, t, n, d, lo, hi, h)
#define SETTING_BYTES(t, n, d, lo, hi, h) SETTING_ROW(SET_BYTES, false, t, n, d, lo, hi, h)
#define SETTING_END                       SETTING_ROW(SET_END, false, NULL, NULL, NULL, 0, 0, NULL)

/** Fill the targets from the environment. Durations read `250ms`, `10s`, `5m`, `1h` (a bare number
 * is seconds), sizes `64KiB`, `1MiB`, `2GiB` or bare bytes, booleans
 * `true|false|1|0|on|off|yes|no`. An empty variable counts as unset. Text targets borrow from the
 * environment or the table.
 *
 * ERR_INVALID: after one line on standard error for each bad or missing variable. */
enum err_code config_load(const struct setting *settings);

/** --help's part about settings, and --show-config, on standard output. */
void config_print_help(const struct setting *settings);
void config_print_values(const struct setting *settings);
