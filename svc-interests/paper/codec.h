/** Reads and writes the numbers of a saved model: little-endian, and LEB128 for integers.
 *
 * A reader never reads past its end. After the first invalid value `failed` stays set and all reads
 * return 0, so callers may read several values and then check `failed` once.
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

/** Read an integer; a value above `max` is invalid. */
uint64_t read_uint(struct reader *in, uint64_t max);

/** Read a number; infinity and NaN are invalid. */
float read_float(struct reader *in);
double read_double(struct reader *in);

uint32_t read_u32(struct reader *in);

/** Read the number of elements that follow, each of at least `element_bytes` bytes. A number above
 * `max`, or more elements than the remaining bytes can hold, is invalid: a damaged length cannot
 * cause a large allocation. */
size_t read_count(struct reader *in, size_t max, size_t element_bytes);
