/** The best `k` of a stream of scored documents: a heap whose root is the worst of them. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct hit {
	uint32_t doc;
	float score;
};

/** Fill in with topk_init(). */
struct topk {
	struct hit *hits; /* a heap; the worst first */
	size_t count;
	size_t capacity;
	float threshold; /* only a greater score enters; 0 until the heap is full */
};

/** `hits` has room for `capacity` (> 0) and is borrowed. */
void topk_init(struct topk *topk, struct hit *hits, size_t capacity);

/** Offer a document. Of equal scores the lower document number is better. Scores are above 0,
 * others are turned away. */
void topk_offer(struct topk *topk, uint32_t doc, float score);

/** Put the hits in order, the best first. The heap cannot be added to afterwards. */
void topk_sort(struct topk *topk);
