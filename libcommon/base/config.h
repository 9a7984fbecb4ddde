/** Settings: environment variables, declared in one table per process.
 *
 *     static struct search_settings { int64_t merge_docs; const char *data_dir; } settings;
 *     static const struct setting TABLE[] = {
 *             SETTING_INT(&settings.merge_docs, "MERGE_DOCS", "4096", 16, 1000000,
 *                         "Documents in the live segment before a merge."),
 *             SETTING_TEXT(&settings.data_dir, "DATA_DIR", "",
 *                          "Folder of the snapshot; empty: none."),
 *             SETTING_END,
 *     };
 *
 * The value of a secret may also be in a file, as containers mount it: SECRET_FILE=/run/secrets/x
 * instead of SECRET. Line breaks at its end are dropped; it is read once, at the start.
 *
 * --help and --show-config print the table. For each invalid value the process prints one line,
 * `MERGE_DOCS: "abc" is not an integer (16 to 1000000)`, and does not start. The value of a secret
 * is never printed. An invalid default is a bug (require()).
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
	const char *fallback; /* the default, as text; NULL: the variable must be set */
	double min, max;      /* for numbers; both 0: no bounds */
	const char *help;     /* one sentence */
	int memory_times; /* how often a process may take this memory; 0: it is no limit of it */
};

/** `memory_times` of what each worker may take. */
#define MEMORY_EACH_WORKER (-1)

#define SETTING_ROW(type, is_secret, target, name, fallback, min, max, help)               \
	{                                                                                  \
		(type), (is_secret), (target), (name), (fallback), (min), (max), (help), 0 \
	}
#define SETTING_TEXT(t, n, d, h)          SETTING_ROW(SET_TEXT, false, t, n, d, 0, 0, h)
#define SETTING_SECRET(t, n, d, h)        SETTING_ROW(SET_TEXT, true, t, n, d, 0, 0, h)
#define SETTING_INT(t, n, d, lo, hi, h)   SETTING_ROW(SET_INT, false, t, n, d, lo, hi, h)
#define SETTING_FLOAT(t, n, d, lo, hi, h) SETTING_ROW(SET_FLOAT, false, t, n, d, lo, hi, h)
#define SETTING_BOOL(t, n, d, h)          SETTING_ROW(SET_BOOL, false, t, n, d, 0, 0, h)
#define SETTING_MS(t, n, d, lo, hi, h)    SETTING_ROW(SET_DURATION_MS, false, t, n, d, lo, hi, h)
#define SETTING_BYTES(t, n, d, lo, hi, h) SETTING_ROW(SET_BYTES, false, t, n, d, lo, hi, h)
#define SETTING_MEMORY(t, n, d, lo, hi, times, h)                         \
	{                                                                 \
		SET_BYTES, false, (t), (n), (d), (lo), (hi), (h), (times) \
	}
#define SETTING_END SETTING_ROW(SET_END, false, NULL, NULL, NULL, 0, 0, NULL)

/** Set the targets from the environment. Durations are written `250ms`, `10s`, `5m`, `1h` (without
 * a unit: seconds), sizes `64KiB`, `1MiB`, `2GiB` (without a unit: bytes), booleans
 * `true|false|1|0|on|off|yes|no`. An empty variable counts as unset. Text targets borrow from the
 * environment or the table; secrets are copied.
 *
 * ERR_INVALID: a variable is invalid or missing; each has been reported on standard error. */
enum err_code config_load(const struct setting *settings);

/** After config_load(): remove the secrets of the table from the environment, also those of a table
 * that was not loaded. Programs that the process starts do not get them, and /proc/PID/environ
 * shows blanks in their place. A table cannot be loaded again afterwards. No other thread may
 * run. */
void config_hide_secrets(const struct setting *settings);

/** The memory in bytes that a process of so many workers may take by the table's rows of
 * SETTING_MEMORY, after config_load(). */
int64_t config_memory(const struct setting *settings, int workers);

/** Print the settings for --help and their values for --show-config, on standard output. */
void config_print_help(const struct setting *settings);
void config_print_values(const struct setting *settings);
