/** Suggests an experiment with a recommended paper: the member `suggested_experiment` of the API.
 *
 *     Compare FlashAttention (code: https://github.com/…) with a baseline of optimised kernels on long
 *     sequences for "Efficient attention"; claim to check: "It is 2.4 times faster than …".
 *
 * It is made from what the paper says: the *method* that its title or abstract names, and the
 * sentence of the abstract that *claims* a result, with what the claim compares the method to and
 * on which data. A paper that names no method or claims nothing gives no suggestion. */
#pragma once

#include "ranking/explanation.h"

/** The suggestion, in `arena`. NULL: there is none, also for a paper that is less than loosely
 * related (calibration.h). */
char *suggest_experiment(struct arena *arena, const struct explanation_facts *facts);
