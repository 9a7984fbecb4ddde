#include "engine/vocabulary.h"

uint32_t vocabulary_df(const struct engine_view *view, const char *text, size_t length)
{
	uint32_t count = 0;
	for (size_t i = 0; i < view->part_count; i++) {
		const struct view_part *at = &view->parts[i];
		uint32_t number = segment_find_term(at->part->segment, text, length);
		count += number != SEGMENT_NONE ? view_part_df(at, number) : 0;
	}
	return count;
}
