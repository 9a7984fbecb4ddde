#include "limit/rate_limit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECOND_US UINT64_C(1000000)
#define START_US  (1000 * SECOND_US)

static struct uuid key_of(uint64_t number)
{
	struct uuid key = {{1}};
	memcpy(key.bytes + 8, &number, sizeof(number));
	return key;
}

static void without_a_limit_everything_is_allowed(void **state)
{
	(void)state;
	struct rate_limiter *limiter = rate_limiter_new(0);
	struct uuid key = key_of(1);
	for (int i = 0; i < 1000; i++)
		assert_true(rate_limiter_take(limiter, &key, START_US).is_allowed);
	assert_int_equal(rate_limiter_size(limiter), 0);
	rate_limiter_free(limiter);
}

static void the_bucket_empties_and_refills(void **state)
{
	(void)state;
	struct rate_limiter *limiter = rate_limiter_new(10);
	struct uuid key = key_of(1);
	for (int i = 0; i < 10; i++) {
		struct rate_verdict verdict = rate_limiter_take(limiter, &key, START_US);
		assert_true(verdict.is_allowed);
		assert_int_equal(verdict.limit, 10);
		assert_int_equal(verdict.remaining, 9 - i);
		assert_int_equal(verdict.reset_s, 1);
	}
	struct rate_verdict refused = rate_limiter_take(limiter, &key, START_US);
	assert_false(refused.is_allowed);
	assert_int_equal(refused.remaining, 0);
	assert_int_equal(refused.retry_s, 1);
	assert_false(rate_limiter_take(limiter, &key, START_US + SECOND_US / 10 - 1).is_allowed);
	assert_true(rate_limiter_take(limiter, &key, START_US + SECOND_US / 10).is_allowed);
	assert_false(rate_limiter_take(limiter, &key, START_US + SECOND_US / 10).is_allowed);
	for (int i = 0; i < 10; i++)
		assert_true(rate_limiter_take(limiter, &key, START_US + 5 * SECOND_US).is_allowed);
	assert_false(rate_limiter_take(limiter, &key, START_US + 5 * SECOND_US).is_allowed);
	rate_limiter_free(limiter);
}

static void each_key_has_its_own_bucket(void **state)
{
	(void)state;
	struct rate_limiter *limiter = rate_limiter_new(1);
	for (uint64_t i = 0; i < 10000; i++) {
		struct uuid key = key_of(i);
		assert_true(rate_limiter_take(limiter, &key, START_US).is_allowed);
	}
	for (uint64_t i = 0; i < 10000; i++) {
		struct uuid key = key_of(i);
		assert_false(rate_limiter_take(limiter, &key, START_US).is_allowed);
	}
	rate_limiter_free(limiter);
}

static void keys_with_a_full_bucket_are_removed(void **state)
{
	(void)state;
	struct rate_limiter *limiter = rate_limiter_new(5);
	for (uint64_t i = 0; i < 200000; i++) {
		struct uuid key = key_of(i);
		rate_limiter_take(limiter, &key, START_US + i * 1000);
	}
	assert_in_range(rate_limiter_size(limiter), 1, 20000);
	rate_limiter_free(limiter);
}

static void a_returned_token_can_be_taken_again(void **state)
{
	(void)state;
	struct rate_limiter *limiter = rate_limiter_new(1);
	struct uuid key = key_of(1), other = key_of(2);
	assert_true(rate_limiter_take(limiter, &key, START_US).is_allowed);
	assert_false(rate_limiter_take(limiter, &key, START_US).is_allowed);
	rate_limiter_return(limiter, &key);
	rate_limiter_return(limiter, &other); /* has no bucket */
	assert_true(rate_limiter_take(limiter, &key, START_US).is_allowed);
	rate_limiter_free(limiter);
}

static void the_table_is_bounded(void **state)
{
	(void)state;
	struct rate_limiter *limiter = rate_limiter_new(1);
	for (uint64_t i = 0; i < 2 * RATE_BUCKETS_MAX; i++) {
		struct uuid key = key_of(i);
		rate_limiter_take(limiter, &key, START_US);
	}
	assert_in_range(rate_limiter_size(limiter), 1, 2 * RATE_BUCKETS_MAX - 1);
	rate_limiter_free(limiter);
}

static void keys_of_an_account_share_its_limit(void **state)
{
	(void)state;
	struct rate_limits *limits = rate_limits_new(3, 4, 2);
	struct uuid first = key_of(1), second = key_of(2), account = key_of(3), other = key_of(4);
	struct rate_verdict verdict;
	for (int i = 0; i < 3; i++) {
		verdict = rate_limits_take(limits, &first, &account, START_US);
		assert_true(verdict.is_allowed);
		assert_string_equal(verdict.policy, "key");
		assert_int_equal(verdict.remaining, 2 - i);
	}
	assert_string_equal(verdict.policies, "\"key\";q=3;w=1, \"account\";q=4;w=1");
	verdict = rate_limits_take(limits, &first, &account, START_US);
	assert_false(verdict.is_allowed);
	assert_string_equal(verdict.policy, "key");
	verdict = rate_limits_take(limits, &second, &account, START_US);
	assert_true(verdict.is_allowed);
	assert_string_equal(verdict.policy, "account");
	assert_int_equal(verdict.remaining, 0);
	verdict = rate_limits_take(limits, &second, &account, START_US);
	assert_false(verdict.is_allowed);
	assert_string_equal(verdict.policy, "account");
	assert_int_equal(verdict.limit, 4);
	assert_true(rate_limits_take(limits, &second, &other, START_US).is_allowed);
	rate_limits_free(limits);
}

static void clients_without_a_key_have_a_limit(void **state)
{
	(void)state;
	struct rate_limits *limits = rate_limits_new(3, 4, 2);
	static const char *const SAME[] = {"2001:db8:1:2::1", "2001:db8:1:2::2", "2001:db8:1:2::3"};
	for (int i = 0; i < 3; i++) {
		struct rate_verdict verdict = rate_limits_take_open(limits, SAME[i], START_US);
		assert_true(verdict.is_allowed == (i < 2));
		assert_string_equal(verdict.policy, "address");
		assert_string_equal(verdict.policies, "\"address\";q=2;w=1");
	}
	assert_true(rate_limits_take_open(limits, "2001:db8:1:3::1", START_US).is_allowed);
	assert_true(rate_limits_take_open(limits, "192.0.2.1", START_US).is_allowed);
	rate_limits_free(limits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_limit_everything_is_allowed),
		cmocka_unit_test(the_bucket_empties_and_refills),
		cmocka_unit_test(each_key_has_its_own_bucket),
		cmocka_unit_test(keys_with_a_full_bucket_are_removed),
		cmocka_unit_test(a_returned_token_can_be_taken_again),
		cmocka_unit_test(the_table_is_bounded),
		cmocka_unit_test(keys_of_an_account_share_its_limit),
		cmocka_unit_test(clients_without_a_key_have_a_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
