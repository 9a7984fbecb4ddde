/** Numbers as bytes: what a saved model is made of. Little-endian, and LEB128 for whole numbers.
 *
 * A reader never reads past its end. After the first damage it is `failed`, gives zeros, and stays
 * so: callers read on and look at `failed` where it matters.
 */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reader {
	const unsigned char *data;
	size_t length;
	size_t offset;
	bool failed;
};

void write_uint(struct buf *out, uint64_t value);
void write_float(struct buf *out, float value);
void write_double(struct buf *out, double value);
void write_u32(struct buf *out, uint32_t value);

/** A whole number of at most `max`; a larger one is damage. */
uint64_t read_uint(struct reader *in, uint64_t max);

/** A finite number; another is damage. */
float read_float(struct reader *in);
double read_double(struct reader *in);

uint32_t read_u32(struct reader *in);

/** How many elements of at least `element_bytes` follow: at most `max`, and no more than the bytes
 * that are left can hold, so that a damaged length allocates nothing large. */
size_t read_count(struct reader *in, size_t max, size_t element_bytes);
