/** Languages of Latin script other than English, told by their function words: articles, pronouns,
 * prepositions, conjunctions and auxiliaries, which stand in every text and say nothing of its
 * subject. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct language;

/** The language of a text: the one with most function words in it, three at least. NULL: English,
 * or none of those that are known. */
const struct language *language_of(const char *text);

/** Whether a word, UTF-8, is a function word of the language; NULL has none. Case does not
 * count. */
bool language_has_function_word(const struct language *language, const char *word, size_t length);

/** Bytes of the word at `text`, letters and what is not ASCII; 0: none starts there. */
size_t language_word_length(const char *text);
