#include "base/config.h"

#include "base/arena.h"
#include "base/base.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_TEXT_BYTES 32
#define NAME_MAX_BYTES    64
#define SECRET_FILE_MAX   16384

/* A suffix and its factor. */
struct unit {
	const char *name;
	int64_t factor;
};

/* Largest first, so that printing finds the shortest form. */
static const struct unit DURATION_UNITS[] = {
	{"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}, {NULL, 0},
};
static const struct unit BYTES_UNITS[] = {
	{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"", 1}, {NULL, 0},
};

/* How one type of setting is named, parsed and printed. */
struct value_type {
	const char *noun; /* `is not NOUN` */
	bool (*parse)(const char *text, void *target);
	void (*format)(double value, char out[NUMBER_TEXT_BYTES]); /* NULL: not a number */
};

static bool parse_text(const char *text, void *target)
{
	*(const char **)target = text;
	return true;
}

/* Parse digits with an optional `-`; returns the text after them. */
static const char *parse_digits(const char *text, int64_t *ret_value)
{
	const char *digits = text + (*text == '-');
	if (*digits < '0' || *digits > '9')
		return NULL;
	char *end;
	errno = 0;
	*ret_value = strtoll(text, &end, 10);
	return errno == 0 ? end : NULL;
}

static bool parse_int(const char *text, void *target)
{
	int64_t value;
	const char *end = parse_digits(text, &value);
	if (!end || *end != '\0')
		return false;
	*(int64_t *)target = value;
	return true;
}

static bool parse_float(const char *text, void *target)
{
	/* strtod() also accepts infinity, NaN and hexadecimal. */
	if (*text == '\0' || strspn(text, "0123456789+-.eE") != strlen(text))
		return false;
	char *end;
	double value = strtod(text, &end);
	if (*end != '\0' || !isfinite(value))
		return false;
	*(double *)target = value;
	return true;
}

static bool parse_bool(const char *text, void *target)
{
	static const char *const WORDS[] = {"false", "true", "0", "1", "off", "on", "no", "yes"};
	for (size_t i = 0; i < ARRAY_LEN(WORDS); i++) {
		if (strcmp(text, WORDS[i]) == 0) {
			*(bool *)target = i % 2 == 1;
			return true;
		}
	}
	return false;
}

/* Parse a non-negative number with one of `units`; without a unit it is multiplied by
 * `bare_factor`. */
static bool parse_with_unit(const char *text, const struct unit *units, int64_t bare_factor,
                            int64_t *target)
{
	int64_t value;
	const char *end = parse_digits(text, &value);
	if (!end || value < 0)
		return false;
	int64_t factor = *end == '\0' ? bare_factor : 0;
	for (; factor == 0 && units->name; units++) {
		if (strcmp(end, units->name) == 0)
			factor = units->factor;
	}
	return factor > 0 && !__builtin_mul_overflow(value, factor, target);
}

static bool parse_duration(const char *text, void *target)
{
	return parse_with_unit(text, DURATION_UNITS, 1000, target);
}

static bool parse_bytes(const char *text, void *target)
{
	return parse_with_unit(text, BYTES_UNITS, 1, target);
}

static void format_int(double value, char out[NUMBER_TEXT_BYTES])
{
	snprintf(out, NUMBER_TEXT_BYTES, "%.0f", value);
}

static void format_float(double value, char out[NUMBER_TEXT_BYTES])
{
	snprintf(out, NUMBER_TEXT_BYTES, "%.15g", value);
}

static void format_with_unit(double value, const struct unit *units, char out[NUMBER_TEXT_BYTES])
{
	int64_t number = (int64_t)value;
	while (units->factor > 1 && (number == 0 || number % units->factor != 0))
		units++;
	snprintf(out, NUMBER_TEXT_BYTES, "%" PRId64 "%s", number / units->factor, units->name);
}

static void format_duration(double value, char out[NUMBER_TEXT_BYTES])
{
	format_with_unit(value, DURATION_UNITS, out);
}

static void format_bytes(double value, char out[NUMBER_TEXT_BYTES])
{
	format_with_unit(value, BYTES_UNITS, out);
}

static const struct value_type TYPES[] = {
	[SET_TEXT] = {"text", parse_text, NULL},
	[SET_INT] = {"an integer", parse_int, format_int},
	[SET_FLOAT] = {"a number", parse_float, format_float},
	[SET_BOOL] = {"true or false", parse_bool, NULL},
	[SET_DURATION_MS] = {"a duration such as 250ms, 10s, 5m or 1h", parse_duration,
                             format_duration},
	[SET_BYTES] = {"a size such as 64KiB, 1MiB or 2GiB", parse_bytes, format_bytes},
};

/* The value of a numeric target; 0 for a text or boolean. */
static double target_number(const struct setting *setting)
{
	if (setting->type == SET_FLOAT)
		return *(const double *)setting->target;
	if (TYPES[setting->type].format)
		return (double)*(const int64_t *)setting->target;
	return 0;
}

static bool has_bounds(const struct setting *setting)
{
	return TYPES[setting->type].format && (setting->min != 0 || setting->max != 0);
}

/* Print ` (16 to 1000000)`; nothing if there are no bounds. */
static void print_bounds(FILE *out, const struct setting *setting)
{
	if (!has_bounds(setting))
		return;
	char min[NUMBER_TEXT_BYTES], max[NUMBER_TEXT_BYTES];
	TYPES[setting->type].format(setting->min, min);
	TYPES[setting->type].format(setting->max, max);
	fprintf(out, " (%s to %s)", min, max);
}

static bool print_fault(const struct setting *setting, const char *value, const char *fault,
                        const char *noun)
{
	fprintf(stderr, "%s: \"%s\" %s%s", setting->name, setting->is_secret ? "***" : value, fault,
	        noun);
	print_bounds(stderr, setting);
	fputc('\n', stderr);
	return false;
}

/* A variable that is set to something; NULL: there is none. */
static const char *variable(const char *name)
{
	const char *value = getenv(name);
	return value && *value ? value : NULL;
}

/* Values of secrets, for the life of the process. */
static struct arena *secrets;

static struct arena *secret_arena(void)
{
	return secrets = secrets ? secrets : arena_new_wiped();
}

static bool file_fault(const char *name, const char *path, const char *why)
{
	fprintf(stderr, "%s: \"%s\" %s\n", name, path, why);
	return false;
}

/* The content of the file without line breaks at its end. False after a line on standard error. */
static bool read_secret(const char *name, const char *path, const char **ret_text)
{
	char *text = arena_alloc(secret_arena(), SECRET_FILE_MAX + 2);
	FILE *file = fopen(path, "re");
	if (!file)
		return file_fault(name, path, "cannot be opened");
	size_t length = fread(text, 1, SECRET_FILE_MAX + 1, file);
	bool has_failed = ferror(file);
	fclose(file);
	if (has_failed)
		return file_fault(name, path, "cannot be read");
	if (length > SECRET_FILE_MAX || memchr(text, '\0', length))
		return file_fault(name, path, "is not a text of at most 16 KiB");
	while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\r'))
		text[--length] = '\0';
	*ret_text = text;
	return true;
}

/* The text of a setting: its variable's; for a secret also that of the file NAME_FILE; NULL:
 * neither is set. False after a line on standard error. */
static bool find_value(const struct setting *setting, const char **ret_value)
{
	*ret_value = variable(setting->name);
	if (!setting->is_secret)
		return true;
	if (*ret_value)
		*ret_value = arena_strdup(secret_arena(), *ret_value);
	char name[NAME_MAX_BYTES];
	int length = snprintf(name, sizeof(name), "%s_FILE", setting->name);
	require(length > 0 && (size_t)length < sizeof(name));
	const char *path = variable(name);
	if (!path)
		return true;
	if (*ret_value) {
		fprintf(stderr, "%s and %s: only one of them may be set\n", setting->name, name);
		return false;
	}
	if (!read_secret(name, path, ret_value))
		return false;
	return **ret_value || file_fault(name, path, "is empty");
}

static bool load_one(const struct setting *setting)
{
	const char *value;
	if (!find_value(setting, &value))
		return false;
	bool is_fallback = !value;
	if (is_fallback)
		value = setting->fallback;
	if (!value) {
		fprintf(stderr, "%s: must be set\n", setting->name);
		return false;
	}
	bool is_valid = TYPES[setting->type].parse(value, setting->target);
	if (!is_valid)
		print_fault(setting, value, "is not ", TYPES[setting->type].noun);
	double number = is_valid ? target_number(setting) : 0;
	if (is_valid && has_bounds(setting) && (number < setting->min || number > setting->max))
		is_valid = print_fault(setting, value, "is out of range", "");
	require(is_valid || !is_fallback);
	return is_valid;
}

enum err_code config_load(const struct setting *settings)
{
	bool is_valid = true;
	for (; settings->type != SET_END; settings++)
		is_valid = load_one(settings) && is_valid;
	return is_valid ? ERR_NONE : ERR_INVALID;
}

void config_hide_secrets(const struct setting *settings)
{
	for (; settings->type != SET_END; settings++) {
		char *value = settings->is_secret ? getenv(settings->name) : NULL;
		if (!value)
			continue;
		memset(value, ' ', strlen(value)); /* in the memory that /proc shows */
		unsetenv(settings->name);
	}
}

void config_print_help(const struct setting *settings)
{
	for (; settings->type != SET_END; settings++) {
		const char *fallback = settings->fallback;
		bool is_shown = fallback && !settings->is_secret;
		printf("  %s%s%s", settings->name, fallback ? "=" : " (must be set)",
		       is_shown ? fallback : "");
		printf("%s\n      %s", settings->is_secret ? " (secret)" : "", settings->help);
		print_bounds(stdout, settings);
		putchar('\n');
	}
}

void config_print_values(const struct setting *settings)
{
	for (; settings->type != SET_END; settings++) {
		char number[NUMBER_TEXT_BYTES];
		const char *value = number;
		if (settings->type == SET_TEXT)
			value = *(const char **)settings->target;
		else if (settings->type == SET_BOOL)
			value = *(const bool *)settings->target ? "true" : "false";
		else
			TYPES[settings->type].format(target_number(settings), number);
		bool is_hidden = settings->is_secret && value && *value != '\0';
		printf("%s=%s\n", settings->name, is_hidden ? "***" : value ? value : "");
	}
}

int64_t config_memory(const struct setting *settings, int workers)
{
	int64_t bytes = 0;
	for (const struct setting *setting = settings; setting->type != SET_END; setting++) {
		int times = setting->memory_times == MEMORY_EACH_WORKER ? workers
		                                                        : setting->memory_times;
		if (times)
			bytes += *(const int64_t *)setting->target * times;
	}
	return bytes;
}
