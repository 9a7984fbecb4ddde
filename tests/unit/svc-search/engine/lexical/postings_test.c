#include "engine/lexical/postings.h"

#include "corpus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Pack, check that nothing is written past the documented size, and unpack from memory that ends
 * with the padding. */
static void round_trip(const uint32_t *docs, const uint8_t *frequencies, size_t count,
                       uint32_t base)
{
	uint8_t packed[POSTINGS_BLOCK_MAX_BYTES + 1];
	packed[POSTINGS_BLOCK_MAX_BYTES] = 0xA5;
	size_t length = postings_pack(docs, frequencies, count, base, packed);
	assert_true(length <= POSTINGS_BLOCK_MAX_BYTES);
	assert_int_equal(packed[POSTINGS_BLOCK_MAX_BYTES], 0xA5);
	uint8_t *copy = malloc(length + POSTINGS_PADDING);
	memcpy(copy, packed, length);
	memset(copy + length, 0xFF, POSTINGS_PADDING);
	uint32_t got_docs[POSTINGS_BLOCK];
	uint8_t got_frequencies[POSTINGS_BLOCK];
	postings_unpack(copy, count, base, got_docs, got_frequencies);
	assert_memory_equal(got_docs, docs, count * sizeof(*docs));
	assert_memory_equal(got_frequencies, frequencies, count);
	free(copy);
}

static void random_blocks_unpack_unchanged(void **state attr_unused)
{
	struct random_source noise = {7};
	for (int round = 0; round < 3000; round++) {
		size_t count = 1 + random_below(&noise, POSTINGS_BLOCK);
		uint32_t gap = 1u << random_below(&noise, 20);
		uint32_t high = 1u << random_below(&noise, 9);
		uint32_t base = random_below(&noise, 1000);
		uint32_t doc = base;
		uint32_t docs[POSTINGS_BLOCK];
		uint8_t frequencies[POSTINGS_BLOCK];
		for (size_t i = 0; i < count; i++) {
			doc += random_below(&noise, gap);
			docs[i] = doc++;
			frequencies[i] = (uint8_t)(1 + random_below(&noise, MIN_OF(high, 255)));
		}
		round_trip(docs, frequencies, count, base);
	}
}

static void smallest_and_largest_values_unpack_unchanged(void **state attr_unused)
{
	uint32_t docs[POSTINGS_BLOCK];
	uint8_t frequencies[POSTINGS_BLOCK];
	for (uint32_t i = 0; i < POSTINGS_BLOCK; i++) {
		docs[i] = i;
		frequencies[i] = 1;
	}
	round_trip(docs, frequencies, POSTINGS_BLOCK, 0); /* no bits at all */
	docs[0] = UINT32_MAX - 1;
	frequencies[0] = 255;
	round_trip(docs, frequencies, 1, 0); /* all the bits */
	for (uint32_t i = 0; i < POSTINGS_BLOCK; i++) {
		docs[i] = i * 33000000u;
		frequencies[i] = 255;
	}
	round_trip(docs, frequencies, POSTINGS_BLOCK, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_blocks_unpack_unchanged),
		cmocka_unit_test(smallest_and_largest_values_unpack_unchanged),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
