#include "engine/lexical/postings.h"

#include "base/base.h"

#include <string.h>

/* A value of at most 32 bits is read with one unaligned 64-bit load. */
_Static_assert(POSTINGS_PADDING >= sizeof(uint64_t), "a load at the last bit must be readable");

/* The values of a full block are in lanes: value `i` is in lane i % GAP_LANES or i %
 * FREQUENCY_LANES. Each lane has its values packed one after another, and each vector of the packed
 * data has the next bits of all lanes. */
typedef uint32_t gap_vector __attribute__((vector_size(16)));
typedef uint16_t frequency_vector __attribute__((vector_size(16))); /* of two bytes each */

#define VECTOR_BYTES    16
#define GAP_LANES       4
#define FREQUENCY_LANES 16

/* Of values without bits too, two vectors are read. */
_Static_assert(POSTINGS_PADDING >= 2 * VECTOR_BYTES, "the vector after the last must be readable");

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

static size_t pack_gaps(const uint32_t *gaps, unsigned bits, uint8_t *out)
{
	uint32_t words[POSTINGS_BLOCK] = {0};
	for (unsigned i = 0; i < POSTINGS_BLOCK; i++) {
		unsigned at = i / GAP_LANES * bits;
		uint32_t *word = &words[at / 32 * GAP_LANES + i % GAP_LANES];
		word[0] |= gaps[i] << at % 32;
		if (at % 32 + bits > 32)
			word[GAP_LANES] |= gaps[i] >> (32 - at % 32);
	}
	memcpy(out, words, bits * (size_t)VECTOR_BYTES);
	return bits * (size_t)VECTOR_BYTES;
}

static size_t pack_frequencies(const uint32_t *extra, unsigned bits, uint8_t *out)
{
	memset(out, 0, bits * (size_t)VECTOR_BYTES);
	for (unsigned i = 0; bits > 0 && i < POSTINGS_BLOCK; i++) {
		unsigned at = i / FREQUENCY_LANES * bits;
		uint8_t *byte = &out[at / 8 * FREQUENCY_LANES + i % FREQUENCY_LANES];
		byte[0] |= (uint8_t)(extra[i] << at % 8);
		if (at % 8 + bits > 8)
			byte[FREQUENCY_LANES] |= (uint8_t)(extra[i] >> (8 - at % 8));
	}
	return bits * (size_t)VECTOR_BYTES;
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
	if (count == POSTINGS_BLOCK) {
		length += pack_gaps(gaps, out[0], out + length);
		length += pack_frequencies(extra, out[1], out + length);
	} else {
		length += pack(gaps, count, out[0], out + length);
		length += pack(extra, count, out[1], out + length);
	}
	return length;
}

size_t postings_packed_bytes(const uint8_t *data, size_t count)
{
	return 2 + packed_bytes(count, MIN_OF(data[0], 32)) +
	       packed_bytes(count, MIN_OF(data[1], 8));
}

static gap_vector load_gaps(const uint8_t *data)
{
	gap_vector vector;
	memcpy(&vector, data, sizeof(vector));
	return vector;
}

static frequency_vector load_frequencies(const uint8_t *data)
{
	frequency_vector vector;
	memcpy(&vector, data, sizeof(vector));
	return vector;
}

/* Unpack the documents of a full block: sums of the gaps, plus one for each document before. */
static void unpack_docs(const uint8_t *data, unsigned bits, uint32_t base, uint32_t *docs)
{
	const gap_vector zero = {0};
	uint32_t mask = bits < 32 ? (UINT32_C(1) << bits) - 1 : UINT32_MAX;
	gap_vector last = zero + (base - 1);
	for (unsigned i = 0, at = 0; i < POSTINGS_BLOCK; i += GAP_LANES, at += bits) {
		const uint8_t *from = data + at / 32 * VECTOR_BYTES;
		unsigned shift = at % 32;
		gap_vector step = load_gaps(from) >> shift | load_gaps(from + VECTOR_BYTES)
		                                                     << 1 << (31 - shift);
		step = (step & mask) + 1;
		step += __builtin_shufflevector(step, zero, 4, 0, 1, 2);
		step += __builtin_shufflevector(step, zero, 4, 5, 0, 1);
		last = __builtin_shufflevector(last, last, 3, 3, 3, 3) + step;
		memcpy(docs + i, &last, sizeof(last));
	}
}

static void unpack_frequencies(const uint8_t *data, unsigned bits, uint8_t *frequencies)
{
	unsigned mask = (1u << bits) - 1;
	for (unsigned i = 0, at = 0; i < POSTINGS_BLOCK; i += FREQUENCY_LANES, at += bits) {
		const uint8_t *from = data + at / 8 * VECTOR_BYTES;
		unsigned shift = at % 8;
		uint16_t low = (uint16_t)((mask & 0xFF >> shift) * 0x0101);
		uint16_t high = (uint16_t)((mask & 0xFF00 >> shift & 0xFF) * 0x0101);
		frequency_vector extra =
			(load_frequencies(from) >> shift & low) |
			(load_frequencies(from + VECTOR_BYTES) << (8 - shift) & high);
		extra += 0x0101;
		memcpy(frequencies + i, &extra, sizeof(extra));
	}
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
	if (count == POSTINGS_BLOCK) {
		unpack_docs(gaps, gap_bits, base, docs);
		unpack_frequencies(extra, extra_bits, frequencies);
		return;
	}
	for (size_t i = 0, bit = 0; i < count; i++, bit += gap_bits) {
		base += (uint32_t)(load64(gaps + bit / 8) >> (bit % 8) & gap_mask);
		docs[i] = base++;
	}
	for (size_t i = 0, bit = 0; i < count; i++, bit += extra_bits)
		frequencies[i] = (uint8_t)(1 + (load64(extra + bit / 8) >> (bit % 8) & extra_mask));
}
