/** Several tests at once. An array of p is replaced by adjusted ones, which are compared with alpha
 * as if there were one test. NaN is no test and stays. */
#pragma once

#include <stddef.h>

/** 51 metrics times 9 treatments. */
#define MULTIPLICITY_MAX 459

/** Holm's method (Scandinavian Journal of Statistics 6, 1979): the probability of any false alarm
 * is at most alpha, whatever the tests have to do with each other. */
void holm_adjust(double *p, size_t count);

/** Benjamini and Hochberg's (Journal of the Royal Statistical Society B 57, 1995): at most alpha of
 * the alarms are false, on average. */
void benjamini_hochberg_adjust(double *p, size_t count);
