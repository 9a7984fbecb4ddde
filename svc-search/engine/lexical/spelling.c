#include "engine/lexical/spelling.h"

#include "base/base.h"
#include "engine/text/token.h"

#include <string.h>

/* The edit distance of two words: the least number of insertions, deletions, replacements and swaps
 * of adjacent letters (optimal string alignment), computed row by row. */
static unsigned edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	uint8_t rows[3][TERM_MAX_BYTES + 1];
	for (size_t j = 0; j <= b_length; j++)
		rows[0][j] = (uint8_t)j;
	for (size_t i = 1; i <= a_length; i++) {
		const uint8_t *above = rows[(i - 1) % 3];
		uint8_t *row = rows[i % 3];
		row[0] = (uint8_t)i;
		for (size_t j = 1; j <= b_length; j++) {
			unsigned best = above[j - 1] + (a[i - 1] != b[j - 1]);
			best = MIN_OF(best, above[j] + 1u);
			best = MIN_OF(best, row[j - 1] + 1u);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				best = MIN_OF(best, rows[(i - 2) % 3][j - 2] + 1u);
			row[j] = (uint8_t)best;
		}
	}
	return rows[a_length % 3][b_length];
}

static bool are_letters(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] < 'a' || text[i] > 'z')
			return false;
	return true;
}

/* The edit distance of a word and a term. Returns allowed + 1 without computing it if the lengths
 * differ too much or the term is not all letters. */
static unsigned bounded_distance(const char *text, size_t length, const char *term,
                                 unsigned allowed)
{
	size_t term_length = strlen(term);
	if (term_length > length + allowed || term_length + allowed < length ||
	    !are_letters(term, term_length))
		return allowed + 1;
	return edit_distance(text, length, term, term_length);
}

uint32_t spelling_nearest(const struct segment *segment, const char *text, size_t length)
{
	unsigned allowed = length >= SPELLING_TWO_EDITS ? 2 : 1;
	uint32_t nearest = SEGMENT_NONE;
	if (length < SPELLING_MIN_LENGTH || length > TERM_MAX_BYTES || !are_letters(text, length))
		return SEGMENT_NONE;
	for (uint32_t i = 0; i < segment->term_count && allowed > 0; i++) {
		const char *term = segment_term_text(segment, i);
		if (segment->terms[i].df < SPELLING_MIN_DF)
			break;
		unsigned edits = term[0] == text[0] ? bounded_distance(text, length, term, allowed)
		                                    : allowed + 1;
		if (edits > allowed)
			continue;
		nearest = i;
		allowed = MAX_OF(edits, 1u) - 1;
	}
	return nearest;
}
