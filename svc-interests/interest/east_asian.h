/** Function words of Chinese and Japanese, which are written without spaces.
 *
 * Chinese   the words of a list, the longest first, outside of other scripts. Words that are also
 * parts of
 *           common nouns, such as 用 in 应用 or 不 in 不确定性, are not in it, except 与 and 及.
 * Japanese  all hiragana: particles, endings and auxiliary verbs are written with them, nouns with
 * kanji and
 *           katakana. A text is Japanese if it has hiragana. */
#pragma once

#include "base/arena.h"

/** `text` with a space instead of each function word, in `arena`; `text` itself if it has no
 * Chinese or Japanese function word. */
const char *without_east_asian_function_words(struct arena *arena, const char *text);
