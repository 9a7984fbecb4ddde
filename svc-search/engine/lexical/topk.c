#include "engine/lexical/topk.h"

#include "base/base.h"

#include <stdbool.h>
#include <stdlib.h>

static bool is_worse(const struct hit *a, const struct hit *b)
{
	return a->score < b->score || (!(a->score > b->score) && a->doc > b->doc);
}

static void swap(struct hit *a, struct hit *b)
{
	struct hit old = *a;
	*a = *b;
	*b = old;
}

void topk_init(struct topk *topk, struct hit *hits, size_t capacity, float floor)
{
	require(capacity > 0 && floor >= 0);
	*topk = (struct topk){.hits = hits,
	                      .capacity = capacity,
	                      .floor = floor,
	                      .threshold = floor};
}

static void sift_down(struct hit *hits, size_t count, size_t at)
{
	for (;;) {
		size_t worst = at;
		size_t left = 2 * at + 1;
		if (left < count && is_worse(&hits[left], &hits[worst]))
			worst = left;
		if (left + 1 < count && is_worse(&hits[left + 1], &hits[worst]))
			worst = left + 1;
		if (worst == at)
			return;
		swap(&hits[at], &hits[worst]);
		at = worst;
	}
}

static void sift_up(struct hit *hits, size_t at)
{
	while (at > 0 && is_worse(&hits[at], &hits[(at - 1) / 2])) {
		swap(&hits[at], &hits[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
}

void topk_offer(struct topk *topk, uint32_t doc, float score)
{
	struct hit hit = {doc, score};
	if (!(score > topk->floor))
		return;
	if (topk->count < topk->capacity) {
		topk->hits[topk->count++] = hit;
		sift_up(topk->hits, topk->count - 1);
	} else if (is_worse(&topk->hits[0], &hit)) {
		topk->hits[0] = hit;
		sift_down(topk->hits, topk->count, 0);
	}
	if (topk->count == topk->capacity)
		topk->threshold = topk->hits[0].score;
}

static int compare(const void *a, const void *b)
{
	const struct hit *left = a;
	const struct hit *right = b;
	return is_worse(left, right) ? 1 : is_worse(right, left) ? -1 : 0;
}

void topk_sort(struct topk *topk)
{
	qsort(topk->hits, topk->count, sizeof(struct hit), compare);
}
