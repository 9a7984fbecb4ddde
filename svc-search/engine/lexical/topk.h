/** Keeps the `k` best of a stream of scored documents, in a heap with the worst one at the root. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct hit {
	uint32_t doc;
	float score;
};

/** Initialise with topk_init(). */
struct topk {
	struct hit *hits; /* the heap; the worst first */
	size_t count;
	size_t capacity;
	float floor;     /* only greater scores are of interest */
	float threshold; /* only a greater score is kept; the floor until the heap is full */
};

/** Keep up to `capacity` (> 0) hits with scores above `floor` (0 or more) in `hits`, which has that
 * much room. Borrows it. */
void topk_init(struct topk *topk, struct hit *hits, size_t capacity, float floor);

/** Offer a document. Of equal scores the lower document number is better. Scores that are not above
 * the floor are ignored. */
void topk_offer(struct topk *topk, uint32_t doc, float score);

/** Sort the hits, the best first. No document can be offered afterwards. */
void topk_sort(struct topk *topk);
