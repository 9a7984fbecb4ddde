/** Parts of a text to show: where it answers a query, and how it begins. */
#pragma once

#include "base/arena.h"
#include "engine/text/parsed_query.h"

#include <stddef.h>

/** Characters (code points) of a fragment, marks and escapes not counted. */
#define HIGHLIGHT_CHARACTERS 200

/** What begins and ends a word of the query in a fragment. */
#define HIGHLIGHT_BEGIN "<em>"
#define HIGHLIGHT_END   "</em>"

/** The part of `text` (UTF-8, `length` bytes) with the most of the query's words in it, those
 * marked:
 *
 *     …the <em>attention</em> of a small <em>transformer</em> &amp; its cost…
 *
 * It is HTML: `&`, `<`, `>` of the text are escaped, so that it can be shown as it is, and no mark
 * is the text's own. Words match as the index matches them: by stem, accents, hyphens and capitals
 * aside. A cut end is shown by "…". In `arena`; NULL when no word of the query stands in the
 * text. */
char *highlight_fragment(struct arena *arena, const struct parsed_query *query, const char *text,
                         size_t length);
