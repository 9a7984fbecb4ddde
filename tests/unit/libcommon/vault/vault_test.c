#include "vault/vault.h"

#include "arena_fixture.h"

#include <stdlib.h>
#include <string.h>

#define KEY_A "a:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
#define KEY_B "b:AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="

static enum err_code load(const char *keys)
{
	setenv("SEAL_KEYS", keys, 1);
	assert_int_equal(config_load(VAULT_SETTINGS), ERR_NONE);
	return vault_init();
}

static void what_is_sealed_opens(void **state attr_unused)
{
	assert_int_equal(load(KEY_A), ERR_NONE);
	struct sealed sealed = vault_seal(arena, "row 1", "secret");
	assert_string_equal(vault_open(arena, "row 1", sealed.data, sealed.length), "secret");
	assert_null(memmem(sealed.data, sealed.length, "secret", 6));
	struct sealed again = vault_seal(arena, "row 1", "secret");
	assert_memory_not_equal(sealed.data, again.data, sealed.length);
}

static void it_opens_for_its_row_only(void **state attr_unused)
{
	assert_int_equal(load(KEY_A), ERR_NONE);
	struct sealed sealed = vault_seal(arena, "row 1", "secret");
	assert_null(vault_open(arena, "row 2", sealed.data, sealed.length));
}

static void changed_bytes_do_not_open(void **state attr_unused)
{
	assert_int_equal(load(KEY_A), ERR_NONE);
	struct sealed sealed = vault_seal(arena, "row 1", "secret");
	for (size_t i = 0; i < sealed.length; i++) {
		uint8_t *changed = arena_memdup(arena, sealed.data, sealed.length);
		changed[i] ^= 1;
		assert_null(vault_open(arena, "row 1", changed, sealed.length));
	}
	for (size_t length = 0; length < sealed.length; length++)
		assert_null(vault_open(arena, "row 1", sealed.data, length));
}

static void the_first_key_seals_and_all_open(void **state attr_unused)
{
	assert_int_equal(load(KEY_A), ERR_NONE);
	struct sealed old = vault_seal(arena, "row 1", "secret");
	assert_string_equal(vault_prefix_hex(arena), "0161");
	assert_int_equal(load(KEY_B "," KEY_A), ERR_NONE);
	assert_string_equal(vault_open(arena, "row 1", old.data, old.length), "secret");
	struct sealed fresh = vault_seal(arena, "row 1", "secret");
	assert_string_equal(vault_prefix_hex(arena), "0162");
	assert_memory_equal(fresh.data, "\1b", 2);
	assert_int_equal(load(KEY_B), ERR_NONE);
	assert_null(vault_open(arena, "row 1", old.data, old.length));
	assert_string_equal(vault_open(arena, "row 1", fresh.data, fresh.length), "secret");
}

static void wrong_settings_are_refused(void **state attr_unused)
{
	static const char *const KEYS[] = {
		"a",
		":",
		"a:",
		"a:AAAA",
		KEY_A "," KEY_A,
		KEY_A ",x",
		"a:" KEY_A,
		KEY_A "=",
		"abcdefghijklmnopqrstuvwxyzabcdefg:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
	};
	for (size_t i = 0; i < ARRAY_LEN(KEYS); i++)
		assert_int_equal(load(KEYS[i]), ERR_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_sealed_opens),
		cmocka_unit_test(it_opens_for_its_row_only),
		cmocka_unit_test(changed_bytes_do_not_open),
		cmocka_unit_test(the_first_key_seals_and_all_open),
		cmocka_unit_test(wrong_settings_are_refused),
	};
	return cmocka_run_group_tests(tests, arena_setup, arena_teardown);
}
