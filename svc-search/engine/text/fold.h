/** Characters as the index sees them: decoded from UTF-8, lower-cased, and Latin letters without
 * their accents, so that "Schrödinger", "SCHRÖDINGER" and "Schrodinger" are one word.
 *
 * Folds Latin (with ligatures, full-width forms and the mathematical alphabets such as U+1D49C),
 * lower-cases Greek and Cyrillic, drops combining marks, maps super- and subscript digits to
 * digits. Other letters stay as they are; Han, kana and Hangul are words by themselves, a character
 * each.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fold_kind {
	FOLD_BREAK,     /* separates words */
	FOLD_LETTER,    /* part of a word */
	FOLD_DIGIT,     /* part of a word */
	FOLD_IDEOGRAPH, /* a word by itself */
	FOLD_IGNORE,    /* as if it were not there: combining marks, soft hyphen, joiners */
	FOLD_SIGN, /* ASCII punctuation, in `text[0]`: hyphens and apostrophes of any kind too */
};

struct folded {
	enum fold_kind kind;
	bool is_upper;  /* was a capital */
	uint8_t length; /* bytes in `text`; 0 for FOLD_BREAK and FOLD_IGNORE */
	char text[4];   /* the folded form in UTF-8, not terminated */
};

/** Decode the code point at `text`, of which `length` (> 0) bytes are readable, into `ret_code`.
 * Returns its length in bytes; a byte that is not UTF-8 counts as U+FFFD of length 1. */
size_t fold_decode(const char *text, size_t length, uint32_t *ret_code);

/** Encode `code` (at most 0x10FFFF) at `out`, which has room for 4 bytes. Returns the length. */
size_t fold_encode(uint32_t code, char *out);

/** Fold one code point. */
struct folded fold(uint32_t code);
