#include "paper/codec.h"

#include <math.h>
#include <string.h>

void write_uint(struct buf *out, uint64_t value)
{
	unsigned char bytes[10];
	size_t length = 0;
	do {
		unsigned char low = value & 0x7f;
		value >>= 7;
		bytes[length++] = value != 0 ? low | 0x80 : low;
	} while (value != 0);
	buf_add(out, bytes, length);
}

void write_u32(struct buf *out, uint32_t value)
{
	unsigned char bytes[4];
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(value >> (8 * i));
	buf_add(out, bytes, sizeof(bytes));
}

void write_float(struct buf *out, float value)
{
	uint32_t bits;
	memcpy(&bits, &value, sizeof(bits));
	write_u32(out, bits);
}

void write_double(struct buf *out, double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof(bits));
	write_u32(out, (uint32_t)bits);
	write_u32(out, (uint32_t)(bits >> 32));
}

static uint64_t reader_fail(struct reader *in)
{
	in->failed = true;
	return 0;
}

uint64_t read_uint(struct reader *in, uint64_t max)
{
	uint64_t value = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		if (in->failed || in->offset >= in->length)
			return reader_fail(in);
		uint64_t part = in->data[in->offset++];
		if (shift == 63 && part > 1)
			return reader_fail(in);
		value |= (part & 0x7f) << shift;
		if ((part & 0x80) == 0)
			return value <= max ? value : reader_fail(in);
	}
	return reader_fail(in);
}

uint32_t read_u32(struct reader *in)
{
	if (in->failed || in->length - in->offset < 4)
		return (uint32_t)reader_fail(in);
	uint32_t value = 0;
	for (unsigned i = 0; i < 4; i++)
		value |= (uint32_t)in->data[in->offset++] << (8 * i);
	return value;
}

float read_float(struct reader *in)
{
	uint32_t bits = read_u32(in);
	float value;
	memcpy(&value, &bits, sizeof(value));
	return isfinite(value) ? value : (float)reader_fail(in);
}

double read_double(struct reader *in)
{
	uint64_t bits = read_u32(in);
	bits |= (uint64_t)read_u32(in) << 32;
	double value;
	memcpy(&value, &bits, sizeof(value));
	return isfinite(value) ? value : (double)reader_fail(in);
}

size_t read_count(struct reader *in, size_t max, size_t element_bytes)
{
	size_t count = (size_t)read_uint(in, max);
	if (in->failed || count > (in->length - in->offset) / element_bytes)
		return (size_t)reader_fail(in);
	return count;
}
