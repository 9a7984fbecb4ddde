#include "crypto/uuid.h"

#include "base/base.h"
#include "base/timefmt.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t time_of(const struct uuid *uuid)
{
	uint64_t time_ms = 0;
	for (int i = 0; i < 6; i++)
		time_ms = time_ms << 8 | uuid->bytes[i];
	return time_ms;
}

static void new_uuids_have_version_7_and_the_time(void **state attr_unused)
{
	uint64_t before = (uint64_t)time_now_ms();
	struct uuid uuid = uuid_new();
	uint64_t after = (uint64_t)time_now_ms();
	assert_int_equal(uuid.bytes[6] >> 4, 7);
	assert_int_equal(uuid.bytes[8] >> 6, 2);
	assert_in_range(time_of(&uuid), before, after);
	assert_false(uuid_is_nil(&uuid));
}

/* The beginning of the SHA-256 of "abc" (FIPS 180-2), but for the version and the variant. */
static void uuids_of_hashes_have_version_8(void **state attr_unused)
{
	struct uuid uuid = uuid_of_hash("abc", 3);
	char text[UUID_TEXT_LEN + 1];
	uuid_format(&uuid, text);
	assert_string_equal(text, "ba7816bf-8f01-8fea-8141-40de5dae2223");
}

#define MANY 100000

static void new_uuids_ascend(void **state attr_unused)
{
	struct uuid last = uuid_new();
	for (int i = 0; i < MANY; i++) {
		struct uuid next = uuid_new();
		assert_true(memcmp(last.bytes, next.bytes, sizeof(next.bytes)) < 0);
		assert_int_equal(next.bytes[6] >> 4, 7);
		assert_int_equal(next.bytes[8] >> 6, 2);
		last = next;
	}
	/* A full counter carries into the time: 100,000 ids advance it by at most 49 ms. */
	assert_true(time_of(&last) < (uint64_t)time_now_ms() + 100);
}

#define THREADS    4
#define PER_THREAD ((size_t)20000)

static struct uuid made[THREADS][PER_THREAD];

static void *make_many(void *row)
{
	struct uuid *uuids = row;
	for (size_t i = 0; i < PER_THREAD; i++)
		uuids[i] = uuid_new();
	return NULL;
}

static int random_compare(const void *a, const void *b)
{
	return memcmp((const uint8_t *)a + 8, (const uint8_t *)b + 8, 8);
}

static void random_parts_differ_between_threads(void **state attr_unused)
{
	pthread_t threads[THREADS];
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, make_many, made[i]), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	struct uuid *all = made[0];
	qsort(all, THREADS * PER_THREAD, sizeof(*all), random_compare);
	for (size_t i = 1; i < THREADS * PER_THREAD; i++)
		assert_int_not_equal(random_compare(&all[i - 1], &all[i]), 0);
}

static void text_round_trip(void **state attr_unused)
{
	static const char *const TEXTS[] = {
		"00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff",
		"01234567-89ab-cdef-0123-456789abcdef", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
		"017f22e2-79b0-7cc3-98c4-dc0c0c07398f", /* RFC 9562, appendix A.6 */
	};
	for (size_t i = 0; i < ARRAY_LEN(TEXTS); i++) {
		struct uuid uuid;
		char text[UUID_TEXT_LEN + 1];
		assert_true(uuid_parse(TEXTS[i], strlen(TEXTS[i]), &uuid));
		uuid_format(&uuid, text);
		assert_string_equal(text, TEXTS[i]);
	}
}

static void either_case_is_read(void **state attr_unused)
{
	struct uuid lower, upper;
	assert_true(uuid_parse("abcdef01-2345-6789-abcd-ef0123456789", 36, &lower));
	assert_true(uuid_parse("ABCDEF01-2345-6789-ABCD-EF0123456789", 36, &upper));
	assert_true(uuid_equal(&lower, &upper));
	assert_int_equal(lower.bytes[0], 0xab);
	assert_int_equal(lower.bytes[15], 0x89);
}

static void bad_text_is_refused(void **state attr_unused)
{
	static const char *const TEXTS[] = {
		"",
		"0",
		"01234567-89ab-cdef-0123-456789abcde",
		"01234567-89ab-cdef-0123-456789abcdef0",
		"0123456789abcdef0123456789abcdef",
		"{01234567-89ab-cdef-0123-456789abcdef}",
		"01234567-89ab-cdef-0123-456789abcdeg",
		"01234567-89ab-cdef-0123_456789abcdef",
		"0123456-789ab-cdef-0123-456789abcdef",
		"01234567-89ab-cdef-0123-456789abcd f",
		" 1234567-89ab-cdef-0123-456789abcdef",
		"01234567--9ab-cdef-0123-456789abcdef",
		"+1234567-89ab-cdef-0123-456789abcdef",
		"0x234567-89ab-cdef-0123-456789abcdef",
	};
	struct uuid uuid = {{42}};
	for (size_t i = 0; i < ARRAY_LEN(TEXTS); i++)
		assert_false(uuid_parse(TEXTS[i], strlen(TEXTS[i]), &uuid));
	assert_false(uuid_parse("01234567-89ab-cdef-0123-456789abcde\0", 36, &uuid));
	assert_int_equal(uuid.bytes[0], 42);
}

static void nil_and_equality(void **state attr_unused)
{
	struct uuid nil = {0}, last_bit = {0};
	last_bit.bytes[15] = 1;
	assert_true(uuid_is_nil(&nil));
	assert_false(uuid_is_nil(&last_bit));
	assert_false(uuid_equal(&nil, &last_bit));
	assert_true(uuid_equal(&last_bit, &last_bit));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(new_uuids_have_version_7_and_the_time),
		cmocka_unit_test(uuids_of_hashes_have_version_8),
		cmocka_unit_test(new_uuids_ascend),
		cmocka_unit_test(random_parts_differ_between_threads),
		cmocka_unit_test(text_round_trip),
		cmocka_unit_test(either_case_is_read),
		cmocka_unit_test(bad_text_is_refused),
		cmocka_unit_test(nil_and_equality),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
