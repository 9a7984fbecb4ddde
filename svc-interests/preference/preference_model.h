/** The struct of a preference model: preference.c fits it, preference_model.c scores with it, saves
 * and loads it. */
#pragma once

#include "paper/codec.h"
#include "paper/term_index.h"
#include "preference/logistic.h"
#include "preference/preference.h"

struct preference_model {
	struct preference_facts facts;
	struct calibration calibration;
	const struct frequency_table *frequencies;
	double bias;
	size_t term_count;
	struct feature *terms;   /* in ascending order of id */
	struct term_index index; /* of `terms` */
	uint32_t dense_length;   /* 0: no dense block */
	uint64_t dense_space;
	float *dense;
	const double *coefficients; /* of the examples; NULL: unknown */
};

/** Build `index` from `terms`, in `arena`. */
void preference_index(struct arena *arena, struct preference_model *model);
