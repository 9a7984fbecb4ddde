/* config_load(): a value that is taken is within its bounds, and what it is printed as is taken again as the same
 * value. The first byte of the input chooses the setting, the rest is the variable. */
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "config.h"
#include "defines.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	const struct setting *row = &TABLE[data[0] % ARRAY_LEN(TABLE)];
	struct arena *arena = arena_new();
	char *value = arena_strndup(arena, (const char *)data + 1, size - 1);
	if (load(row, value) == ERR_NONE) {
		require(count >= 16 || row->target != &count);
		require(count <= 1000000);
		require(ratio >= 0 && ratio <= 1 && isfinite(any_number));
		require(timeout_ms == 0 || (timeout_ms >= 100 && timeout_ms <= 3600000));
		require(size_bytes >= 0 && size_bytes <= 1048576);
	}
	arena_free(arena);
	return 0;
}
