/** Compressed posting lists: which documents hold a term, and how often.
 *
 * A list is cut into blocks of POSTINGS_BLOCK documents. A block holds the gaps between documents
 * and the weighted frequencies less one, each packed with as many bits as the largest of the block
 * needs (frame of reference), and its header holds the last document, where the data is, and the
 * largest impact (bm25.h) of any posting in it, so that a search skips blocks that cannot matter
 * (Ding and Suel, "Faster top-k document retrieval using block-max indexes", SIGIR 2011).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/** Postings in a block; the last of a list holds fewer. */
#define POSTINGS_BLOCK 128

/** Bytes that must be readable behind the packed data. */
#define POSTINGS_PADDING 8

/** Bytes that one block's data can take. */
#define POSTINGS_BLOCK_MAX_BYTES (2 + POSTINGS_BLOCK * 5 + 2)

struct posting_block {
	uint32_t last_doc;
	uint32_t offset;  /* of its data, in bytes from where the list's data begins */
	float max_impact; /* not yet multiplied by the term's weight; never below a posting's own */
};

/** Pack `count` (1 to POSTINGS_BLOCK) postings: ascending `docs`, all at least `base`, and
 * frequencies of at least 1. Returns the bytes written to `out`, at most
 * POSTINGS_BLOCK_MAX_BYTES. */
size_t postings_pack(const uint32_t *docs, const uint8_t *frequencies, size_t count, uint32_t base,
                     uint8_t *out);

/** The reverse. `docs` and `frequencies` have room for POSTINGS_BLOCK. */
void postings_unpack(const uint8_t *data, size_t count, uint32_t base, uint32_t *docs,
                     uint8_t *frequencies);
