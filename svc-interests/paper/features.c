#include "paper/features.h"

#include <math.h>
#include <stdbool.h>

/* Weight of a pair of words, relative to a word of the same idf; see TITLE_OCCURRENCES (bag.c). */
#define PAIR_SCALE 0.75

static double term_weight(const struct frequency_table *frequencies, const struct bag_term *term)
{
	bool is_pair = (term->id & TERM_IS_PAIR) != 0;
	double idf = frequencies ? frequency_idf(frequencies, term->id) : !is_pair;
	double occurrences = term->occurrences;
	double tf = occurrences < 1 ? occurrences : 1 + log(occurrences);
	return tf * idf * (is_pair ? PAIR_SCALE : 1);
}

static size_t weigh_terms(struct feature *out, const struct frequency_table *frequencies,
                          const struct bag *bag, double *ret_length)
{
	size_t count = 0;
	double squares = 0;
	for (size_t i = 0; i < bag->count; i++) {
		double weight = term_weight(frequencies, &bag->terms[i]);
		if (weight <= 0)
			continue;
		out[count++] = (struct feature){bag->terms[i].id, (float)weight};
		squares += weight * weight;
	}
	*ret_length = sqrt(squares);
	return count;
}

/* Length of the dense vector; 0 when it cannot be used. */
static double dense_norm(const struct bag *bag)
{
	double squares = 0;
	for (uint32_t i = 0; i < bag->dense_length; i++)
		squares += (double)bag->dense[i] * bag->dense[i];
	return isfinite(squares) ? sqrt(squares) : 0;
}

struct features *features_new(struct arena *arena, const struct frequency_table *frequencies,
                              const struct bag *bag)
{
	struct features *features = arena_new_of(arena, struct features);
	struct feature *terms = arena_array(arena, bag->count, sizeof(*terms));
	double terms_length, dense_length = dense_norm(bag);
	features->count = weigh_terms(terms, frequencies, bag, &terms_length);
	features->terms = terms;

	double whole = sqrt((terms_length > 0) +
	                    (dense_length > 0) * FEATURES_DENSE_SCALE * FEATURES_DENSE_SCALE);
	for (size_t i = 0; i < features->count; i++)
		terms[i].weight = (float)(terms[i].weight / (terms_length * whole));
	if (dense_length > 0) {
		float *dense = arena_array(arena, bag->dense_length, sizeof(*dense));
		double scale = FEATURES_DENSE_SCALE / (dense_length * whole);
		for (uint32_t i = 0; i < bag->dense_length; i++)
			dense[i] = (float)(bag->dense[i] * scale);
		features->dense = dense;
		features->dense_length = bag->dense_length;
		features->dense_space = bag->dense_space;
	}
	return features;
}

static double dense_dot(const struct features *a, const struct features *b)
{
	if (a->dense_space != b->dense_space || a->dense_length != b->dense_length)
		return 0;
	double sum = 0;
	for (uint32_t i = 0; i < a->dense_length; i++)
		sum += (double)a->dense[i] * b->dense[i];
	return sum;
}

double features_dot(const struct features *a, const struct features *b)
{
	if (!a || !b)
		return 0;
	double sum = dense_dot(a, b);
	size_t i = 0, j = 0;
	while (i < a->count && j < b->count) {
		uint32_t left = a->terms[i].id, right = b->terms[j].id;
		if (left == right)
			sum += (double)a->terms[i].weight * b->terms[j].weight;
		i += left <= right;
		j += right <= left;
	}
	return sum;
}
