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

/* The best term so far. */
struct nearest {
	const char *text; /* NULL: none */
	unsigned edits;   /* of `text`, or that are allowed */
	uint32_t df;
};

static bool is_better(const struct nearest *one, const struct nearest *than)
{
	if (one->df < SPELLING_MIN_DF)
		return false;
	if (!than->text || one->edits != than->edits)
		return one->edits <= than->edits;
	if (one->df != than->df)
		return one->df > than->df;
	return strcmp(one->text, than->text) < 0;
}

const char *spelling_nearest(const struct segment *const *segments, size_t count, const char *text,
                             size_t length, spelling_df_fn *df, const void *ctx)
{
	struct nearest best = {.edits = length >= SPELLING_TWO_EDITS ? 2 : 1};
	if (length < SPELLING_MIN_LENGTH || length > TERM_MAX_BYTES || !are_letters(text, length))
		return NULL;
	for (size_t i = 0; i < count; i++) {
		for (uint32_t number = 0; number < segments[i]->term_count; number++) {
			struct nearest term = {.text = segment_term_text(segments[i], number)};
			if (term.text[0] != text[0])
				continue;
			term.edits = bounded_distance(text, length, term.text, best.edits);
			if (term.edits == 0 || term.edits > best.edits)
				continue;
			term.df = df(term.text, strlen(term.text), ctx);
			if (is_better(&term, &best))
				best = term;
		}
	}
	return best.text;
}
