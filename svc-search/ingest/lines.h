/** The lines of a file, plain or gzip. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/** A longer line is passed over. */
#define LINE_MAX_BYTES ((size_t)1024 * 1024)

struct lines;

/** Open the file; NULL with errno set. */
struct lines *lines_open(const char *path);

/** NULL is fine. */
void lines_close(struct lines *lines);

enum line_kind {
	LINE_TEXT,     /* a line, maybe empty */
	LINE_TOO_LONG, /* one over LINE_MAX_BYTES, passed over */
	LINE_NONE,     /* the end of the file */
	LINE_BROKEN,   /* the file cannot be read on: lines_error() says why */
};

/** The next line without its end (LF or CRLF), valid until the next call; NULs in it are kept. The
 * last line needs no end. What is left of a gzip file that was cut counts as a line before
 * LINE_BROKEN. */
enum line_kind lines_next(struct lines *lines, const char **ret_line, size_t *ret_length);

/** Number of the line that lines_next() gave last, from 1. */
size_t lines_number(const struct lines *lines);

/** Part of the file that has been read, 0 to 1. */
double lines_part(const struct lines *lines);

/** Why the file cannot be read on; valid until lines_close(). */
const char *lines_error(const struct lines *lines);
