/** Reads a file line by line, plain or gzip. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/** Maximum bytes of a line; a longer line is skipped. */
#define LINE_MAX_BYTES ((size_t)1024 * 1024)

struct line_reader;

/** Open the file at `path`. Returns NULL with errno set. */
struct line_reader *line_reader_open(const char *path);

/** Accepts NULL. */
void line_reader_close(struct line_reader *reader);

enum line_kind {
	LINE_TEXT,     /* a line, possibly empty */
	LINE_TOO_LONG, /* a line of more than LINE_MAX_BYTES, skipped */
	LINE_END,      /* the end of the file */
	LINE_ERROR,    /* the rest of the file cannot be read: see line_reader_error() */
};

/** Read the next line, without its LF or CRLF; borrowed, valid until the next call. It may contain
 * NULs. The last line may lack a line end. If a gzip file is truncated, the bytes
 * after the last line end are returned as a line before LINE_ERROR. */
enum line_kind line_reader_next(struct line_reader *reader, const char **ret_line,
                                size_t *ret_length);

/** Number, from 1, of the line that line_reader_next() returned last. */
size_t line_reader_number(const struct line_reader *reader);

/** Fraction of the file that has been read, 0 to 1. */
double line_reader_progress(const struct line_reader *reader);

/** Why the file cannot be read further; valid until line_reader_close(). */
const char *line_reader_error(const struct line_reader *reader);
