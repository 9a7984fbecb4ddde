/** Compressed posting lists: which documents contain a term, and how often.
 *
 * A list is divided into blocks of POSTINGS_BLOCK documents. A block stores the gaps between
 * document numbers and the weighted frequencies minus one. Each kind is packed with as many bits as
 * the largest value in the block needs (frame of reference). In a full block the values are
 * interleaved so that several are unpacked at once (Lemire and Boytsov, "Decoding billions of
 * integers per second through vectorization", 2015, section 3.4); in the last block of a list,
 * which can have fewer documents, they follow one another. The block header stores the last
 * document, the offset of the data, and the largest impact (bm25.h) in the block. With the impact a
 * search skips blocks that cannot change its result (Ding and Suel, "Faster top-k document
 * retrieval using block-max indexes", SIGIR 2011).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/** Postings in a block; the last block of a list can have fewer. */
#define POSTINGS_BLOCK 128

/** Bytes that must be readable after the packed data. */
#define POSTINGS_PADDING 32

/** Maximum bytes of the data of one block. */
#define POSTINGS_BLOCK_MAX_BYTES (2 + POSTINGS_BLOCK * 5 + 2)

struct posting_block {
	uint32_t last_doc;
	uint32_t offset;  /* of its data from the start of the list's data, in bytes */
	float max_impact; /* largest impact in the block, not multiplied by the term's weight */
};

/** Pack `count` (1 to POSTINGS_BLOCK) postings into `out`. `docs` ascend and are at least `base`;
 * `frequencies` are at least 1. Returns the bytes written, at most POSTINGS_BLOCK_MAX_BYTES. */
size_t postings_pack(const uint32_t *docs, const uint8_t *frequencies, size_t count, uint32_t base,
                     uint8_t *out);

/** Bytes that `count` packed postings at `data` take, POSTINGS_PADDING excluded. Reads the first
 * two. */
size_t postings_packed_bytes(const uint8_t *data, size_t count);

/** Unpack what postings_pack() wrote, with the same `count` and `base`. `docs` and `frequencies`
 * have room for POSTINGS_BLOCK. */
void postings_unpack(const uint8_t *data, size_t count, uint32_t base, uint32_t *docs,
                     uint8_t *frequencies);
