/** Folds characters for indexing: decodes UTF-8, converts to lower case and removes accents from
 * Latin letters, so that "Schrödinger", "SCHRÖDINGER" and "Schrodinger" are the same word.
 *
 * Latin ligatures, full-width forms and the mathematical alphabets such as U+1D49C fold to plain
 * Latin letters. Greek and Cyrillic become lower case. Combining marks are ignored. Superscripts
 * and subscripts become digits and letters. Other letters stay unchanged. Each Han, kana or Hangul
 * character is a word by itself.
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
	FOLD_IGNORE,    /* skipped: combining marks, soft hyphen, joiners */
	FOLD_SIGN, /* punctuation, as ASCII in `text[0]`; Unicode hyphens and apostrophes too */
};

struct folded {
	enum fold_kind kind;
	bool is_upper;  /* was a capital */
	uint8_t length; /* bytes in `text`; 0 for FOLD_BREAK and FOLD_IGNORE */
	char text[4];   /* the folded form in UTF-8, not terminated */
	/* The letter that follows `text` where the letter is spelled out: e of `oe` for ö; or 0. */
	char spelled;
};

/** Decode the code point at `text`, of which `length` (> 0) bytes are readable, into `ret_code`.
 * Returns its length in bytes. A byte that is not valid UTF-8 gives U+FFFD and length 1. */
size_t fold_decode(const char *text, size_t length, uint32_t *ret_code);

/** Encode `code` (at most 0x10FFFF) at `out`, which has room for 4 bytes. Returns the length in
 * bytes. */
size_t fold_encode(uint32_t code, char *out);

/** Fold one code point. */
struct folded fold(uint32_t code);
