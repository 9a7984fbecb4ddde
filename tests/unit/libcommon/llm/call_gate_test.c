#include "llm/call_gate.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct uuid A = {{1}}, B = {{2}}, C = {{3}};

static struct call_gate gate_of(size_t limit)
{
	return (struct call_gate){.lock = PTHREAD_MUTEX_INITIALIZER, .limit = limit};
}

static void test_an_account_has_a_quarter(void **state)
{
	(void)state;
	struct call_gate gate = gate_of(8);
	assert_int_equal(call_gate_enter(&gate, &A), GATE_ENTERED);
	assert_int_equal(call_gate_enter(&gate, &B), GATE_ENTERED);
	assert_int_equal(call_gate_enter(&gate, &A), GATE_ENTERED);
	assert_int_equal(call_gate_enter(&gate, &A), GATE_FULL);
	assert_int_equal(call_gate_enter(&gate, &B), GATE_ENTERED);
	call_gate_leave(&gate, &A, GATE_NO_SIGN, 0);
	assert_int_equal(call_gate_enter(&gate, &B), GATE_FULL);
	assert_int_equal(call_gate_enter(&gate, &A), GATE_ENTERED);
}

static void test_the_process_has_a_limit(void **state)
{
	(void)state;
	struct call_gate gate = gate_of(2);
	assert_int_equal(call_gate_enter(&gate, &A), GATE_ENTERED);
	assert_int_equal(call_gate_enter(&gate, &B), GATE_ENTERED);
	assert_int_equal(call_gate_enter(&gate, &C), GATE_FULL);
	call_gate_leave(&gate, &A, GATE_SERVER_WORKS, 0);
	assert_int_equal(call_gate_enter(&gate, &C), GATE_ENTERED);
	assert_int_equal(gate.running, 2);
}

static void test_nobody_enters_during_a_pause(void **state)
{
	(void)state;
	struct call_gate gate = gate_of(8);
	assert_int_equal(call_gate_enter(&gate, &A), GATE_ENTERED);
	assert_int_equal(call_gate_enter(&gate, &B), GATE_ENTERED);
	call_gate_leave(&gate, &A, GATE_SERVER_FAILED, 20000);
	assert_int_equal(call_gate_enter(&gate, &C), GATE_PAUSED);
	call_gate_leave(&gate, &B, GATE_SERVER_WORKS, 0);
	assert_int_equal(call_gate_enter(&gate, &C), GATE_ENTERED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_account_has_a_quarter),
		cmocka_unit_test(test_the_process_has_a_limit),
		cmocka_unit_test(test_nobody_enters_during_a_pause),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
