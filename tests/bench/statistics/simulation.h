/** Simulated experiments whose truth is known: how often an interval has it, or a test a false
 * alarm. Each simulation has its own seed, so it always gives the same share. */
#pragma once

#include "statistics/suite.h"

#include <stdbool.h>

enum claim {
	CLAIM_EXACT,    /* the share is the nominal one, within three standard errors */
	CLAIM_AT_LEAST, /* or more: the method is conservative, or covers all looks at once */
	CLAIM_AT_MOST,  /* or less */
};

struct simulation {
	const char *name;
	enum claim claim;
	double nominal;
	/* One experiment: whether the interval has the truth, or the test alarms. */
	bool (*run)(struct suite_random *random);
	bool is_slow; /* milliseconds for an experiment */
	int times;    /* so many times the experiments are made, where a share is small; 0: once */
};

/** All of them; a name of NULL ends them. */
extern const struct simulation SIMULATIONS[];

struct simulated {
	int experiments;
	double share, error; /* its Monte Carlo standard error, at the nominal share */
	bool holds;
};

struct simulated simulation_run(const struct simulation *simulation, int experiments);
