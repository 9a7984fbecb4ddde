#include "input/name_hint.h"

#include "base/base.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define NAME_MAX_LENGTH   32 /* of names that are compared */
#define PREFIX_MIN_LENGTH 3

static bool is_same_letter(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static unsigned least(unsigned a, unsigned b, unsigned c)
{
	return MIN_OF(a, MIN_OF(b, c));
}

/* The edits between two names of at most NAME_MAX_LENGTH letters: insert, delete or replace a
 * letter, or swap two adjacent ones (optimal string alignment: Damerau 1964, without edits of what
 * was swapped). */
static unsigned edits(const char *a, size_t a_length, const char *b, size_t b_length)
{
	unsigned rows[3][NAME_MAX_LENGTH + 1];
	for (size_t j = 0; j <= b_length; j++)
		rows[0][j] = (unsigned)j;
	for (size_t i = 1; i <= a_length; i++) {
		unsigned *row = rows[i % 3];
		const unsigned *above = rows[(i + 2) % 3], *above_that = rows[(i + 1) % 3];
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= b_length; j++) {
			unsigned differs = !is_same_letter(a[i - 1], b[j - 1]);
			row[j] = least(row[j - 1] + 1, above[j] + 1, above[j - 1] + differs);
			if (i > 1 && j > 1 && is_same_letter(a[i - 1], b[j - 2]) &&
			    is_same_letter(a[i - 2], b[j - 1]))
				row[j] = MIN_OF(row[j], above_that[j - 2] + 1);
		}
	}
	return rows[a_length % 3][b_length];
}

/* How far `given` is from a name; UINT_MAX: too far. */
static unsigned distance(const char *given, const char *name)
{
	size_t given_length = strlen(given), length = strlen(name);
	if (given_length > NAME_MAX_LENGTH || length > NAME_MAX_LENGTH)
		return UINT_MAX;
	unsigned count = edits(given, given_length, name, length);
	if (count <= (length + 2) / 4)
		return count;
	size_t shorter = MIN_OF(given_length, length);
	bool is_prefix = shorter >= PREFIX_MIN_LENGTH && strncasecmp(given, name, shorter) == 0;
	return is_prefix ? count : UINT_MAX;
}

const char *name_hint_nearer(const char *given, const char *best, const char *candidate)
{
	unsigned of_candidate = distance(given, candidate);
	if (of_candidate == UINT_MAX)
		return best;
	return best && distance(given, best) <= of_candidate ? best : candidate;
}
