#include "engine/internal.h"

/* A part is rewritten when more than 1 / DEAD_FRACTION of its documents are dead. */
#define DEAD_FRACTION 4

/* More than enough for 2^32 documents. */
#define MAX_TIERS 16

/* Tier 0 has up to TIERS_LIVE_DOCS x TIERS_FAN_IN documents, each further one TIERS_FAN_IN times as
 * many. */
static unsigned tier_of(uint32_t count)
{
	unsigned tier = 0;
	for (count /= TIERS_LIVE_DOCS * TIERS_FAN_IN; count > 0; count /= TIERS_FAN_IN)
		tier++;
	return MIN_OF(tier, MAX_TIERS - 1u);
}

static bool is_decayed(const struct view_part *at)
{
	uint32_t count = at->part->segment->doc_count;
	return count > TIERS_LIVE_DOCS && at->deaths && at->deaths->count > count / DEAD_FRACTION;
}

static size_t mark_tier(const struct engine_view *view, unsigned tier, bool *is_source)
{
	size_t count = 0;
	for (size_t i = 0; i < view->part_count; i++) {
		is_source[i] = tier_of(view_part_count(&view->parts[i])) == tier;
		count += is_source[i];
	}
	return count;
}

size_t tiers_pick(const struct engine_view *view, bool *is_source)
{
	for (size_t i = 0; i < view->part_count; i++) {
		is_source[i] = is_decayed(&view->parts[i]);
		if (is_source[i])
			return 1;
	}
	for (unsigned tier = 0; tier < MAX_TIERS; tier++) {
		size_t count = mark_tier(view, tier, is_source);
		if (count >= TIERS_FAN_IN)
			return count;
	}
	return 0;
}

void tiers_absorb(const struct engine *engine, const struct engine_view *view, bool *is_absorbed)
{
	size_t left = view->part_count > TIERS_MAX_PARTS ? TIERS_FAN_IN : 0;
	for (size_t i = view->part_count; i-- > 0;) {
		const struct view_part *at = &view->parts[i];
		if (engine_is_merging(engine, at->part))
			continue;
		is_absorbed[i] = view_part_count(at) <= TIERS_LIVE_DOCS || left > 0;
		left -= left > 0;
	}
}
