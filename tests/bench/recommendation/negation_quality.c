/* How many contexts with negations are understood (negation.h).
 *
 *     negation_quality [FILE] */
#include "recommendation/negation.h"

#include <stdio.h>

int main(int argc, char **argv)
{
	static const char *const sets[] = {"tuning", "held_out"};
	const char *path =
		argc > 1 ? argv[1] : "tests/bench/recommendation/interests/negations.jsonl";
	for (int i = 0; i < 2; i++) {
		struct negation_count count;
		if (!negation_count(path, sets[i], i == 0, &count)) {
			fprintf(stderr, "no contexts at '%s'\n", path);
			return 1;
		}
		printf("%s: %zu of %zu contexts understood\n", sets[i], count.understood,
		       count.contexts);
	}
	return 0;
}
