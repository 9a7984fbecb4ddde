/* config_load(): an accepted number is within its bounds, and formatting and loading it again gives
 * the same number. The first byte of the input chooses the setting; the rest is the variable. */
#include "base/config.h"

#include "base/arena.h"
#include "base/base.h"
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int64_t count, any_count, timeout_ms, size_bytes;
static double ratio, any_number;
static bool is_on;
static const char *text;

static const struct setting TABLE[] = {
	SETTING_TEXT(&text, "FUZZ_VALUE", "", "A text."),
	SETTING_INT(&count, "FUZZ_VALUE", "16", 16, 1000000, "A bounded integer."),
	SETTING_INT(&any_count, "FUZZ_VALUE", "0", 0, 0, "An integer."),
	SETTING_FLOAT(&ratio, "FUZZ_VALUE", "0", 0, 1, "A bounded number."),
	SETTING_FLOAT(&any_number, "FUZZ_VALUE", "0", 0, 0, "A number."),
	SETTING_BOOL(&is_on, "FUZZ_VALUE", "on", "A switch."),
	SETTING_MS(&timeout_ms, "FUZZ_VALUE", "1s", 100, 3600000, "A time."),
	SETTING_BYTES(&size_bytes, "FUZZ_VALUE", "1KiB", 0, 1048576, "A size."),
};

static enum err_code load(const struct setting *row, const char *value)
{
	const struct setting settings[] = {*row, SETTING_END};
	require(setenv("FUZZ_VALUE", value, 1) == 0);
	return config_load(settings);
}

static double number_of(const struct setting *row)
{
	return row->type == SET_FLOAT ? *(const double *)row->target
	                              : (double)*(const int64_t *)row->target;
}

static void check_number(struct arena *arena, const struct setting *row)
{
	double number = number_of(row);
	require(isfinite(number));
	if (row->min != 0 || row->max != 0)
		require(number >= row->min && number <= row->max);

	const char *plain = row->type == SET_FLOAT
	                            ? arena_printf(arena, "%.17g", number)
	                            : arena_printf(arena, "%lld%s", *(const long long *)row->target,
	                                           row->type == SET_DURATION_MS ? "ms" : "");
	require(load(row, plain) == ERR_NONE);
	require(number_of(row) == number);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	const struct setting *row = &TABLE[data[0] % ARRAY_LEN(TABLE)];
	struct arena *arena = arena_new();
	char *value = arena_strndup(arena, (const char *)data + 1, size - 1);
	if (load(row, value) == ERR_NONE) {
		if (row->type == SET_TEXT)
			require(strcmp(text, value) == 0);
		else if (row->type != SET_BOOL)
			check_number(arena, row);
	}
	arena_free(arena);
	return 0;
}
