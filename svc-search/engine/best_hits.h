/** Collects the documents with the best scores from the parts of a view, one part after another. */
#pragma once

#include "base/arena.h"
#include "engine/lexical/segment.h"
#include "engine/lexical/topk.h"

/** A hit in one of the parts. */
struct part_hit {
	float score;
	int32_t published;
	const char *id;
	uint32_t part;
	uint32_t doc;
};

/** The best documents of all parts. */
struct best_hits {
	struct part_hit *hits; /* best first; room for twice `depth` */
	size_t count;          /* at most `depth` */
	size_t depth;
	struct hit *of_part; /* room for the `depth` best of one part, before they are added */
};

/** None yet. In `arena`. */
struct best_hits best_hits_new(struct arena *arena, size_t depth);

/** Only greater scores can be among the best. */
float best_hits_floor(const struct best_hits *best);

/** Add the `count` hits in `of_part`, of a part with this number and segment. */
void best_hits_add(struct best_hits *best, uint32_t part, const struct segment *segment,
                   size_t count);
