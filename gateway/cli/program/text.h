/** Text in columns of a terminal. It is UTF-8 without control characters (cli_shown()). */
#pragma once

#include "base/arena.h"

#include <stddef.h>

/** How many columns it takes: two for a wide character of East Asia or an emoji, none for a
 * combining one. */
size_t text_width(const char *text);

/** The text, or if it takes more than `columns` its beginning and an ellipsis; in the arena. */
const char *text_cut(struct arena *arena, const char *text, size_t columns);

/** The text in lines of at most `columns`, broken at spaces; lines after the first begin with
 * `indent` spaces, and the first has that much less room, too. 0: one line. In the arena. */
const char *text_wrap(struct arena *arena, const char *text, size_t indent, size_t columns);
