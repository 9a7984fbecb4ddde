/** Selects and marks the part of a text that matches a query best. */
#pragma once

#include "base/arena.h"
#include "engine/text/parsed_query.h"
#include "engine/text/token.h"

#include <stddef.h>

/** Maximum characters (code points) of a fragment, without marks, escapes and ellipses. */
#define HIGHLIGHT_CHARACTERS 200

/** Marks around each matching word. */
#define HIGHLIGHT_BEGIN "<em>"
#define HIGHLIGHT_END   "</em>"

/** The part of `text` (UTF-8, `length` bytes) with the most words of the query, which are marked:
 *
 *     …the <em>attention</em> of a small <em>transformer</em> &amp; its cost…
 *
 * The result is HTML: `&`, `<` and `>` of the text are escaped, so the marks are the only tags.
 * Words match as in the index: by stem, without regard to accents, hyphens and case. "…" marks an
 * end where text was cut. In `arena`; NULL if no word of the query is in the text.
 *
 * Most of the time goes into stems, and texts of one field share most of their words: `tokenizer`
 * is kept between calls, with a cache of HIGHLIGHT_CACHE_SLOTS. */
char *highlight_fragment(struct arena *arena, struct tokenizer *tokenizer,
                         const struct parsed_query *query, const char *text, size_t length);

/** Stems that the tokenizer should cache: 256 KB. */
#define HIGHLIGHT_CACHE_SLOTS 4096

/** Append `text` to `out`, escaped in the same way, and marked as a whole. */
void highlight_whole(struct buf *out, const char *text, size_t length);
