#include "engine/lexical/spelling.h"

#include "base/base.h"
#include "engine/text/token.h"

#include <string.h>

/* Terms in more documents than this are few. */
#define RARE_DF 64

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

/* A word of the letters a to z. */
struct word {
	const char *text;
	size_t length;
	uint32_t letters; /* a bit for each that it has */
};

/* Read the word at `text`, which ends after `length` bytes or at a NUL. False: it has other
 * characters. */
static bool read_word(const char *text, size_t length, struct word *ret_word)
{
	struct word word = {.text = text};
	for (; word.length < length && text[word.length]; word.length++) {
		unsigned letter = (unsigned char)text[word.length] - 'a';
		if (letter > 'z' - 'a')
			return false;
		word.letters |= 1u << letter;
	}
	*ret_word = word;
	return true;
}

/* Whether the edit distance of the words can be `edits`: an edit adds one letter at most, and
 * removes one. It cannot for nearly all words, whose distance need not be computed then. */
static bool can_be_near(const struct word *one, const struct word *other, unsigned edits)
{
	return one->length <= other->length + edits && other->length <= one->length + edits &&
	       (unsigned)__builtin_popcount(one->letters & ~other->letters) <= edits &&
	       (unsigned)__builtin_popcount(other->letters & ~one->letters) <= edits;
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

/* The search for the correction of a word. */
struct correction {
	spelling_df_fn *df;
	const void *ctx;
	struct word word;
	struct nearest best;
};

static void try_term(struct correction *correction, const char *text)
{
	const struct word *word = &correction->word;
	struct nearest *best = &correction->best;
	struct nearest term = {.text = text};
	struct word other;
	if (!read_word(text, TERM_MAX_BYTES, &other) || !can_be_near(word, &other, best->edits))
		return;
	term.edits = edit_distance(word->text, word->length, text, other.length);
	if (term.edits == 0 || term.edits > best->edits)
		return;
	term.df = correction->df(text, other.length, correction->ctx);
	if (is_better(&term, best))
		*best = term;
}

/* The first term from `low` on, of those up to `high`, that fewer than `df` documents contain. */
static uint32_t find_df_below(const struct segment *segment, uint32_t low, uint32_t high,
                              uint32_t df)
{
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (segment->terms[middle].df >= df)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The first term from `low` on, of those up to `high` in alphabetical order, that begins with
 * `letter` or a later one. */
static uint32_t find_letter(const struct segment *segment, uint32_t low, uint32_t high, char letter)
{
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if ((unsigned char)segment_term_text(segment, middle)[0] < (unsigned char)letter)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Try the terms of a segment that at least `least_df` of its documents contain. Most terms are in
 * a few documents; as those of equal frequency are in alphabetical order, those with another first
 * letter are passed over together. */
static void try_segment(struct correction *correction, const struct segment *segment,
                        uint32_t least_df)
{
	char letter = correction->word.text[0];
	uint32_t number = 0, end = find_df_below(segment, 0, segment->term_count, RARE_DF + 1);
	for (; number < end; number++)
		if (segment_term_text(segment, number)[0] == letter)
			try_term(correction, segment_term_text(segment, number));
	for (uint32_t df = RARE_DF; df >= least_df; df--) {
		end = find_df_below(segment, number, segment->term_count, df);
		uint32_t first = find_letter(segment, number, end, letter);
		number = find_letter(segment, first, end, (char)(letter + 1));
		for (uint32_t i = first; i < number; i++)
			try_term(correction, segment_term_text(segment, i));
		number = end;
	}
}

/* The segment with the most terms. */
static size_t largest_of(const struct segment *const *segments, size_t count)
{
	size_t largest = 0;
	for (size_t i = 1; i < count; i++)
		if (segments[i]->term_count > segments[largest]->term_count)
			largest = i;
	return largest;
}

/* A correction that too few documents of the largest segment contain is in another one, too. */
const char *spelling_nearest(const struct segment *const *segments, size_t count, const char *text,
                             size_t length, spelling_df_fn *df, const void *ctx)
{
	struct correction correction = {.df = df, .ctx = ctx};
	correction.best.edits = length >= SPELLING_TWO_EDITS ? 2 : 1;
	if (length < SPELLING_MIN_LENGTH || length > TERM_MAX_BYTES ||
	    !read_word(text, length, &correction.word) || correction.word.length < length)
		return NULL;
	size_t largest = largest_of(segments, count);
	for (size_t i = 0; i < count; i++)
		try_segment(&correction, segments[i], i == largest ? SPELLING_MIN_DF : 1);
	return correction.best.text;
}
