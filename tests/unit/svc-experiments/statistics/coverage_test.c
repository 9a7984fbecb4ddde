/* A thousand of the experiments that tests/bench/statistics/ simulates ten thousand of. The seeds
 * are fixed, so a test fails always or never. */
#include "near.h"
#include "statistics/simulation.h"

#include <stdio.h>

#define EXPERIMENTS 1000

static void intervals_hold_what_they_claim(void **state)
{
	(void)state;
	for (const struct simulation *s = SIMULATIONS; s->name; s++) {
		if (s->is_slow)
			continue;
		struct simulated r = simulation_run(s, EXPERIMENTS);
		printf("%s: %.4f\n", s->name, r.share);
		if (!r.holds)
			fail_msg("%s: %.4f, claimed %.3f", s->name, r.share, s->nominal);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intervals_hold_what_they_claim),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
