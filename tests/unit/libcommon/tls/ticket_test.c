#include "tls/ticket.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define START_MS   UINT64_C(1000)
#define SESSION    "the state of a session"
#define TICKET_LEN (sizeof(SESSION) + TICKET_OVERHEAD)

static uint64_t in_periods(unsigned periods)
{
	return START_MS + periods * TICKET_PERIOD_MS;
}

static enum err_code opened(struct ticket_keys *keys, uint64_t now_ms, const uint8_t *ticket,
                            size_t length)
{
	uint8_t out[TICKET_LEN];
	enum err_code code = ticket_open(keys, now_ms, ticket, length, out);
	if (!code)
		assert_memory_equal(out, SESSION, sizeof(SESSION));
	return code;
}

/* What one worker seals, the others open, in this period and the next. */
static void workers_have_the_same_keys(void **state)
{
	(void)state;
	struct ticket_seed seed;
	struct ticket_keys one, other;
	uint8_t ticket[TICKET_LEN];
	ticket_seed_init(&seed, START_MS);
	ticket_keys_init(&one, &seed);
	ticket_keys_init(&other, &seed);
	for (unsigned period = 0; period < 5; period += 2) {
		ticket_seal(&one, in_periods(period), SESSION, sizeof(SESSION), ticket);
		uint64_t end_ms = in_periods(period + 1) - 1;
		assert_int_equal(opened(&other, end_ms, ticket, sizeof(ticket)), ERR_NONE);
		assert_int_equal(opened(&other, end_ms + 1, ticket, sizeof(ticket)), ERR_NONE);
	}
	ticket_keys_wipe(&one);
	ticket_keys_wipe(&other);
}

static void a_ticket_ends_with_the_next_period(void **state)
{
	(void)state;
	struct ticket_seed seed;
	struct ticket_keys keys;
	uint8_t ticket[TICKET_LEN];
	ticket_seed_init(&seed, START_MS);
	ticket_keys_init(&keys, &seed);
	ticket_seal(&keys, in_periods(3), SESSION, sizeof(SESSION), ticket);
	assert_int_equal(opened(&keys, in_periods(5) - 1, ticket, sizeof(ticket)), ERR_NONE);
	assert_int_equal(opened(&keys, in_periods(5), ticket, sizeof(ticket)), ERR_INVALID);
}

/* The keys of a period are gone once it is two periods ago: the link cannot be turned back. */
static void no_key_of_an_earlier_period_is_kept(void **state)
{
	(void)state;
	struct ticket_seed seed;
	struct ticket_keys keys, first;
	ticket_seed_init(&seed, START_MS);
	ticket_keys_init(&keys, &seed);
	first = keys;
	uint8_t ticket[TICKET_LEN];
	ticket_seal(&keys, in_periods(2), SESSION, sizeof(SESSION), ticket);
	const uint8_t *left[] = {keys.link, keys.now, keys.before};
	for (size_t i = 0; i < sizeof(left) / sizeof(*left); i++) {
		assert_memory_not_equal(left[i], first.link, sizeof(first.link));
		assert_memory_not_equal(left[i], first.now, sizeof(first.now));
	}
}

static void other_bytes_are_no_tickets(void **state)
{
	(void)state;
	struct ticket_seed seed, other_seed;
	struct ticket_keys keys, other;
	uint8_t ticket[TICKET_LEN];
	ticket_seed_init(&seed, START_MS);
	ticket_seed_init(&other_seed, START_MS);
	ticket_keys_init(&keys, &seed);
	ticket_keys_init(&other, &other_seed);
	ticket_seal(&keys, START_MS, SESSION, sizeof(SESSION), ticket);
	assert_int_equal(opened(&other, START_MS, ticket, sizeof(ticket)), ERR_INVALID);
	for (size_t length = 0; length < sizeof(ticket); length++)
		assert_int_equal(opened(&keys, START_MS, ticket, length), ERR_INVALID);
	for (size_t i = 0; i < sizeof(ticket); i++) {
		ticket[i] ^= 1;
		assert_int_equal(opened(&keys, START_MS, ticket, sizeof(ticket)), ERR_INVALID);
		ticket[i] ^= 1;
	}
	assert_int_equal(opened(&keys, START_MS, ticket, sizeof(ticket)), ERR_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(workers_have_the_same_keys),
		cmocka_unit_test(a_ticket_ends_with_the_next_period),
		cmocka_unit_test(no_key_of_an_earlier_period_is_kept),
		cmocka_unit_test(other_bytes_are_no_tickets),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
