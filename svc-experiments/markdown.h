/** Writing Markdown (CommonMark 0.31) around the texts of others, so that none leaves its place:
 * what comes after a text is read as it was meant, whatever is in the text.
 *
 * Terms are CommonMark's: a block is a paragraph, list, quote and so on; a fence (``` or ~~~) opens
 * and closes a block of code; an ATX heading begins with `#`, a setext heading is underlined. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>

/** Whether the text says anything: not NULL, and not white space alone. */
bool markdown_is_known(const char *text);

/** `\n## heading\n\n` */
void markdown_heading(struct buf *out, const char *heading);

/** The text in one line: every run of white space is a space. */
void markdown_line(struct buf *out, const char *text);

/** A code span. */
void markdown_code(struct buf *out, const char *text);

/** A fenced block of code. */
void markdown_fenced(struct buf *out, const char *language, const char *text);

/** A block quote, line by line. Contains anything: its blocks end with it. */
void markdown_quoted(struct buf *out, const char *text);

/** `- Label: text\n`, the text as a code span or as it is; nothing where it is not known. */
void markdown_item(struct buf *out, const char *label, const char *text, bool is_code);

/** A text that is Markdown itself, under a heading of level 2: its own headings become those below
 * it, and levels among them stay. One that leaves a fence, a comment or other raw HTML open goes in
 * as a quote. */
void markdown_text(struct buf *out, const char *text);
