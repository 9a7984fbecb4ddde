#include "engine/best_hits.h"

#include "base/base.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct best_hits best_hits_new(struct arena *arena, size_t depth)
{
	return (struct best_hits){
		.hits = arena_array(arena, 2 * depth, sizeof(struct part_hit)),
		.depth = depth,
		.of_part = arena_array(arena, depth, sizeof(struct hit)),
	};
}

/* In the order of documents within a segment, so that ties do not depend on the parts. */
static int compare_hits(const void *a, const void *b)
{
	const struct part_hit *left = a;
	const struct part_hit *right = b;
	if (left->score < right->score || left->score > right->score)
		return left->score > right->score ? -1 : 1;
	if (left->published != right->published)
		return left->published > right->published ? -1 : 1;
	return strcmp(left->id, right->id);
}

/* An equal score can be among the best, too, if its document is newer. */
float best_hits_floor(const struct best_hits *best)
{
	return best->count < best->depth ? 0 : nextafterf(best->hits[best->depth - 1].score, 0);
}

void best_hits_add(struct best_hits *best, uint32_t part, const struct segment *segment,
                   size_t count)
{
	if (count == 0)
		return;
	for (size_t i = 0; i < count; i++) {
		uint32_t doc = best->of_part[i].doc;
		best->hits[best->count + i] =
			(struct part_hit){best->of_part[i].score, segment->docs[doc].published,
		                          segment_doc_id(segment, doc), part, doc};
	}
	best->count += count;
	qsort(best->hits, best->count, sizeof(*best->hits), compare_hits);
	best->count = MIN_OF(best->count, best->depth);
}
