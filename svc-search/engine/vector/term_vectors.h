/** The vectors of the terms of a sample while they are trained. */
#pragma once

#include <stdint.h>

struct term_vectors {
	uint32_t count;     /* terms of the sample */
	uint32_t dimension; /* elements of a row */
	float *rows;        /* count x dimension */
};
