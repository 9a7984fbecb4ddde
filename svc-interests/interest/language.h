/** Detects seven European languages other than English by their function words: articles, pronouns,
 * prepositions, conjunctions and auxiliary verbs. Function words occur in every text and do not
 * describe its topic. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct language;

/** The language of a text: the one with the most function words in it, at least three. NULL:
 * English or an unknown language. */
const struct language *language_detect(const char *text);

/** Whether a UTF-8 word is a function word of the language. Ignores case. False for NULL. */
bool language_has_function_word(const struct language *language, const char *word, size_t length);

/** Length in bytes of the word at `text`: ASCII letters and all non-ASCII bytes. 0: no word starts
 * there. */
size_t language_word_length(const char *text);
