/** Splits a text into chunks, from which the tokenizer (token.h) takes words.
 *
 * A *chunk* is a run of units without a space or other separator between them, such as
 * "state-of-the-art". A *unit* is one folded character (fold.h); LaTeX commands (latex.h) have been
 * resolved. A *word* is a run of letters and digits together with the signs that belong to it:
 * "3.5", "10,000", "don't", "c++".
 */
#pragma once

#include "engine/text/word_key.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum unit_kind {
	UNIT_LETTER,
	UNIT_DIGIT,
	UNIT_SUFFIX, /* "++", "#" or "*" that ends a name */
	UNIT_JOINER, /* hyphen or underscore; terms omit this kind and those below it */
	UNIT_APOSTROPHE,
	UNIT_POINT,
	UNIT_COMMA,
	UNIT_SLASH,
	UNIT_DROPPED, /* a possessive s and its apostrophe */
};

struct unit {
	enum unit_kind kind;
	bool is_upper;
	uint8_t length; /* bytes in `text` */
	char text[4];
	char spelled; /* as in fold.h */
	size_t start; /* where it begins in the source, in bytes */
	size_t end;   /* where it ends in the source, in bytes */
};

/** Maximum units of a chunk; longer runs are split. */
#define CHUNK_UNITS 192

struct chunk {
	size_t count;
	bool has_spelled; /* a unit has another spelling */
	struct unit units[CHUNK_UNITS];
	char id[32]; /* result of chunk_arxiv_id() */
};

/** Zero-initialise with `text` and `length` set. */
struct chunk_reader {
	const char *text;
	size_t length;
	size_t at;       /* offset of the next byte */
	bool is_in_math; /* after an odd number of dollar signs */
};

/** A chunk that is one word of at most WORD_KEY_BYTES ASCII letters, which are all small, but for
 * the first, or all capitals. */
struct plain_word {
	size_t start; /* where it begins in the source, in bytes */
	size_t length;
	struct word_key key; /* folded */
};

/** Read the next chunk if it is a plain word, as most are; chunk_next() would give the same letters
 * as units. Otherwise reads nothing but separators and returns false. */
bool chunk_next_plain(struct chunk_reader *reader, struct plain_word *word);

/** Read the next chunk that is not empty. Returns false at the end of the text. */
bool chunk_next(struct chunk_reader *reader, struct chunk *chunk);

/** The number of the unit after the word that begins at unit `begin`, a letter or digit. */
size_t chunk_word_end(const struct chunk *chunk, size_t begin);

/** The arXiv id, without version, if the whole chunk is one: "2103.00020" for "2103.00020v2".
 * Returns the id, which lives in the chunk, and its length; NULL if the chunk is no arXiv id. */
const char *chunk_arxiv_id(struct chunk *chunk, size_t *ret_length);

/** The name of a Greek letter, such as "alpha" for α; NULL for other units. */
const char *chunk_greek_name(const struct unit *unit);
