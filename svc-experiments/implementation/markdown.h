/** Writes Markdown (CommonMark 0.31) that contains texts of users and papers. No such text can
 * change how the Markdown after it is read: it cannot leave a code block or a comment open, or add
 * a section.
 *
 * Terms are CommonMark's: a block is a paragraph, list, quote and so on; a fence (``` or ~~~) opens
 * and closes a block of code; an ATX heading begins with `#`, a setext heading is underlined. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>

/** Whether the text is not NULL and has more than white space. */
bool markdown_has_text(const char *text);

/** Write `\n## heading\n\n`. */
void markdown_heading(struct buf *out, const char *heading);

/** Write the text as one line: each run of white space becomes a space. */
void markdown_line(struct buf *out, const char *text);

/** Write a code span. */
void markdown_code(struct buf *out, const char *text);

/** Write a fenced code block. */
void markdown_fenced(struct buf *out, const char *language, const char *text);

/** Write a block quote. Blocks that the text leaves open end with the quote. */
void markdown_quoted(struct buf *out, const char *text);

/** Write `- Label: text\n`, the text as a code span if `is_code`. Writes nothing when there is no
 * text. */
void markdown_item(struct buf *out, const char *label, const char *text, bool is_code);

/** Write a text that is Markdown itself, below a heading of level 2. If it has headings of level 1
 * or 2, all its headings are lowered, so that the highest one has level 3. A text that leaves a
 * fence, a comment or other raw HTML open is written as a block quote. */
void markdown_text(struct buf *out, const char *text);
