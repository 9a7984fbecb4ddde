/** Runs of a text that hold no space: what the tokenizer (token.h) cuts words from.
 *
 * Reading them undoes LaTeX and folds characters. A *unit* is one folded character; a *word* is a
 * run of letters and digits with the signs that belong inside one: "3.5", "10,000", "don't", "c++".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum unit_kind {
	UNIT_LETTER,
	UNIT_DIGIT,
	UNIT_SUFFIX, /* "++", "#" or "*" that ends a name */
	UNIT_JOINER, /* hyphen or underscore; from here on no part of a term */
	UNIT_APOSTROPHE,
	UNIT_POINT,
	UNIT_COMMA,
	UNIT_SLASH,
	UNIT_NOTHING, /* a possessive s and its apostrophe */
};

struct unit {
	enum unit_kind kind;
	bool is_upper;
	uint8_t length; /* bytes in `text` */
	char text[4];
	size_t start; /* in the source, in bytes */
	size_t end;
};

/** Units of the longest chunk; longer runs are cut. */
#define CHUNK_UNITS 192

struct chunk {
	size_t count;
	struct unit units[CHUNK_UNITS];
	char id[32]; /* see chunk_arxiv_id() */
};

/** Zero-initialise with `text` and `length` set. */
struct chunk_reader {
	const char *text;
	size_t length;
	size_t at;       /* the next byte */
	bool is_in_math; /* after an odd number of dollar signs */
};

/** Read the next chunk, never an empty one. Returns false at the end. */
bool chunk_next(struct chunk_reader *reader, struct chunk *chunk);

/** The unit after the word that begins at unit `begin`, which is a letter or digit. */
size_t chunk_word_end(const struct chunk *chunk, size_t begin);

/** The arXiv id that the whole chunk is, without version, and its length; NULL when it is none.
 * The id lives in the chunk. */
const char *chunk_arxiv_id(struct chunk *chunk, size_t *ret_length);

/** "alpha" for the unit α, and so on; NULL for other units. */
const char *chunk_greek_name(const struct unit *unit);

/** The largest length up to `length` that does not cut a character of `text`, `total` bytes
 * long. */
size_t chunk_cut(const char *text, size_t length, size_t total);
