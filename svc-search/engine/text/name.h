/** Names of people: splits a name into words, and makes the terms by which the index finds it.
 *
 * A word is folded (fold.h) and not stemmed. Points and spaces separate words; hyphens and
 * apostrophes are left out: "Müller-O'Brien" gives "mullerobrien". The *family name* is the last
 * word, or the last one before a comma, the *given name* the first of the other words; "Jr." and
 * its kin are neither. An author has a term for each word of more than one letter and for each part
 * of a hyphenated one, and two for the whole name:
 *
 *     Kaiming He              @kaiming @he                 @he k  @he kaiming
 *     He, K.                  @he                          @he k
 *     Jun-En Ding             @junen @jun @en @ding        @ding j  @ding junen
 *     Laurens van der Maaten  @laurens @van @der @maaten   @maaten l  @maaten laurens
 *
 * A name with letters that can be spelled out, such as ö, has the terms of both spellings.
 *
 * Terms of texts never begin with "@" (token.h), so names and words can be in one index.
 */
#pragma once

#include "engine/text/token.h"

#include <stdbool.h>
#include <stddef.h>

/** Words of a text that are read; more are ignored. */
#define NAME_MAX_WORDS 16

/** Bytes of the longest word, so that the terms of a name fit into TERM_MAX_BYTES; longer words are
 * cut. */
#define NAME_WORD_BYTES 30

struct name_word {
	char text[NAME_WORD_BYTES + 1]; /* folded */
	size_t length;                  /* bytes of `text` */
	size_t start;                   /* where it begins in the source, in bytes */
	size_t end;                     /* where it ends in the source, in bytes */
	bool is_capital;                /* begins with a capital */
	bool is_before_comma;
	bool is_hyphenated;
};

/** Split `text` into words. Writes at most NAME_MAX_WORDS to `words`; returns their number. */
size_t name_split(const char *text, size_t length, struct name_word *words);

/** The same with letters spelled out: "Schroedinger" for "Schrödinger". Returns 0 if the text has
 * no such letters. */
size_t name_split_spelled(const char *text, size_t length, struct name_word *words);

/** Whether the word is an initial: a single letter. */
bool name_is_initial(const struct name_word *word);

/** Write the term of a single word to `out`, which has room for TERM_MAX_BYTES + 1. Returns its
 * length. */
size_t name_word_term(const struct name_word *word, char *out);

/** The same for a family name and a given name or its initial. */
size_t name_full_term(const struct name_word *family, const struct name_word *given, char *out);

typedef void name_term_cb(const char *term, size_t length, void *ctx);

/** Call `cb` for each term of an author's name. */
void name_index_terms(const char *name, size_t length, name_term_cb *cb, void *ctx);
