#include "engine/lexical/postings.h"

#include "base/base.h"

#include <string.h>

/* A value of at most 32 bits is read with one unaligned 64-bit load. */
_Static_assert(POSTINGS_PADDING >= sizeof(uint64_t), "a load at the last bit must be readable");

static unsigned bits_of(uint32_t value)
{
	return value == 0 ? 0 : 32 - (unsigned)__builtin_clz(value);
}

static uint64_t load64(const uint8_t *data)
{
	uint64_t word;
	memcpy(&word, data, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	return word;
}

/* Append `count` values of `bits` bits to `out`; returns the bytes used. */
static size_t pack(const uint32_t *values, size_t count, unsigned bits, uint8_t *out)
{
	uint64_t pending = 0;
	unsigned filled = 0;
	size_t length = 0;
	for (size_t i = 0; i < count; i++) {
		pending |= (uint64_t)values[i] << filled;
		filled += bits;
		for (; filled >= 8; filled -= 8, pending >>= 8)
			out[length++] = (uint8_t)pending;
	}
	if (filled > 0)
		out[length++] = (uint8_t)pending;
	return length;
}

static size_t packed_bytes(size_t count, unsigned bits)
{
	return (count * bits + 7) / 8;
}

size_t postings_pack(const uint32_t *docs, const uint8_t *frequencies, size_t count, uint32_t base,
                     uint8_t *out)
{
	uint32_t all_gaps = 0;
	uint32_t all_extra = 0;
	size_t length = 2;
	require(count > 0 && count <= POSTINGS_BLOCK);
	uint32_t gaps[POSTINGS_BLOCK];
	uint32_t extra[POSTINGS_BLOCK];
	for (size_t i = 0; i < count; i++) {
		gaps[i] = docs[i] - base;
		extra[i] = frequencies[i] - 1u;
		all_gaps |= gaps[i];
		all_extra |= extra[i];
		base = docs[i] + 1;
	}
	out[0] = (uint8_t)bits_of(all_gaps);
	out[1] = (uint8_t)bits_of(all_extra);
	length += pack(gaps, count, out[0], out + length);
	length += pack(extra, count, out[1], out + length);
	return length;
}

size_t postings_packed_bytes(const uint8_t *data, size_t count)
{
	return 2 + packed_bytes(count, MIN_OF(data[0], 32)) +
	       packed_bytes(count, MIN_OF(data[1], 8));
}

void postings_unpack(const uint8_t *data, size_t count, uint32_t base, uint32_t *docs,
                     uint8_t *frequencies)
{
	unsigned gap_bits = MIN_OF(data[0], 32);
	unsigned extra_bits = MIN_OF(data[1], 8);
	uint64_t gap_mask = (UINT64_C(1) << gap_bits) - 1;
	uint64_t extra_mask = (UINT64_C(1) << extra_bits) - 1;
	const uint8_t *gaps = data + 2;
	const uint8_t *extra = gaps + packed_bytes(count, gap_bits);
	for (size_t i = 0, bit = 0; i < count; i++, bit += gap_bits) {
		base += (uint32_t)(load64(gaps + bit / 8) >> (bit % 8) & gap_mask);
		docs[i] = base++;
	}
	for (size_t i = 0, bit = 0; i < count; i++, bit += extra_bits)
		frequencies[i] = (uint8_t)(1 + (load64(extra + bit / 8) >> (bit % 8) & extra_mask));
}
