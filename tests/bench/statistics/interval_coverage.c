/* Simulates 10,000 experiments of each kind, or as many as the first argument says, and prints how
 * often the intervals had the truth. Fails when one does not hold what it claims. The second
 * argument, a beginning of names such as `suite`, leaves out the others. */
#include "statistics/simulation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const CLAIMS[] = {
	[CLAIM_EXACT] = "", [CLAIM_AT_LEAST] = "at least ", [CLAIM_AT_MOST] = "at most "};

int main(int argc, char **argv)
{
	int experiments = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 10000, failed = 0;
	const char *names = argc > 2 ? argv[2] : "";
	if (experiments < 1) {
		fprintf(stderr, "usage: interval_coverage [EXPERIMENTS [NAMES]]\n");
		return 2;
	}
	for (const struct simulation *s = SIMULATIONS; s->name; s++) {
		if (strncmp(s->name, names, strlen(names)) != 0)
			continue;
		struct simulated r = simulation_run(s, experiments);
		printf("%-56s %.4f of %d, claimed %s%.3f, standard error %.4f%s\n", s->name,
		       r.share, r.experiments, CLAIMS[s->claim], s->nominal, r.error,
		       r.holds ? "" : "  FAILED");
		fflush(stdout);
		failed += !r.holds;
	}
	return failed > 0;
}
