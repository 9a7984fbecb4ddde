/** Inside of a preference model: what fitting makes, scoring reads and saving writes. */
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
	struct feature *terms; /* in rising order of id */
	uint32_t *slots;       /* hash table over `terms`: place + 1, or 0 */
	uint32_t slot_mask;    /* slots less 1; slots are a power of two, half of them free */
	uint32_t dense_length; /* 0 without a dense block */
	uint64_t dense_space;
	float *dense;
};

/** Make `slots` from `terms`. */
void preference_index(struct arena *arena, struct preference_model *model);
