/** The struct of a preference model: preference.c fits it, preference_model.c scores with it, saves
 * and loads it. */
#pragma once

#include "preference/codec.h"
#include "preference/logistic.h"
#include "preference/preference.h"

struct preference_model {
	struct preference_facts facts;
	struct calibration calibration;
	const struct frequency_table *frequencies;
	double bias;
	size_t term_count;
	struct feature *terms; /* in ascending order of id */
	uint32_t *slots;       /* hash table over `terms` with linear probing: index + 1; 0: free */
	uint32_t slot_mask;    /* slots - 1; slots are a power of two, at least half of them free */
	uint32_t dense_length; /* 0: no dense block */
	uint64_t dense_space;
	float *dense;
	const double *coefficients; /* of the examples; NULL: unknown */
};

/** Build `slots` from `terms`, in `arena`. */
void preference_index(struct arena *arena, struct preference_model *model);
