#include "ingest/lines.h"

#include "base/base.h"

#include <zlib.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define INFLATE_BYTES (256 * 1024)

/* What was read and not yet given lies in data[at, end). */
struct lines {
	gzFile file; /* plain files are read as they are */
	off_t size;
	size_t path_length;
	char *data; /* room for the longest line, its CR and LF */
	size_t at, end;
	size_t number;
	bool is_over;
	const char *error; /* NULL: none so far */
	char error_text[128];
};

#define ROOM (LINE_MAX_BYTES + 2)

struct lines *lines_open(const char *path)
{
	struct stat status;
	gzFile file = gzopen(path, "rb");
	if (!file)
		return NULL;
	if (stat(path, &status) != 0) {
		gzclose(file);
		return NULL;
	}
	struct lines *lines = calloc(1, sizeof(*lines));
	require(lines);
	lines->data = malloc(ROOM);
	require(lines->data);
	lines->file = file;
	lines->size = status.st_size;
	lines->path_length = strlen(path);
	gzbuffer(file, INFLATE_BYTES);
	return lines;
}

void lines_close(struct lines *lines)
{
	if (!lines)
		return;
	gzclose_r(lines->file);
	free(lines->data);
	free(lines);
}

/* Read more behind what is there, which moves to the front. Fewer bytes than asked are the last
 * ones. */
static void fill(struct lines *lines)
{
	memmove(lines->data, lines->data + lines->at, lines->end - lines->at);
	lines->end -= lines->at;
	lines->at = 0;
	errno = 0;
	int wanted = (int)(ROOM - lines->end), code = Z_OK;
	int count = gzread(lines->file, lines->data + lines->end, (unsigned)wanted);
	const char *why = gzerror(lines->file, &code);
	lines->end += (size_t)MAX_OF(count, 0);
	lines->is_over = count < wanted;
	if (lines->is_over && code == Z_ERRNO)
		lines->error = strerror_r(errno, lines->error_text, sizeof(lines->error_text));
	else if (lines->is_over && code != Z_OK && code != Z_STREAM_END)
		lines->error =
			why + (strlen(why) > lines->path_length ? lines->path_length + 2 : 0);
}

/* The end of the first line in the buffer, which is filled as far as needed; NULL: it has none. */
static char *find_end(struct lines *lines)
{
	char *found = memchr(lines->data + lines->at, '\n', lines->end - lines->at);
	if (found || lines->is_over)
		return found;
	size_t searched = lines->end - lines->at;
	fill(lines);
	return memchr(lines->data + searched, '\n', lines->end - searched);
}

/* Pass over the rest of a line that the buffer does not hold. */
static void skip_rest(struct lines *lines)
{
	char *end;
	do {
		lines->at = lines->end;
		end = find_end(lines);
	} while (!end && !lines->is_over);
	lines->at = end ? (size_t)(end + 1 - lines->data) : lines->end;
}

enum line_kind lines_next(struct lines *lines, const char **ret_line, size_t *ret_length)
{
	char *end = find_end(lines);
	char *start = lines->data + lines->at;
	size_t length = end ? (size_t)(end - start) : lines->end - lines->at;
	if (!end && length == 0)
		return lines->error ? LINE_BROKEN : LINE_NONE;
	lines->number++;
	if (!end && !lines->is_over) {
		skip_rest(lines);
		return LINE_TOO_LONG;
	}
	lines->at += length + (end != NULL);
	if (length && start[length - 1] == '\r')
		length--;
	*ret_line = start;
	*ret_length = length;
	return length > LINE_MAX_BYTES ? LINE_TOO_LONG : LINE_TEXT;
}

size_t lines_number(const struct lines *lines)
{
	return lines->number;
}

double lines_part(const struct lines *lines)
{
	return lines->size > 0 ? (double)gzoffset(lines->file) / (double)lines->size : 1;
}

const char *lines_error(const struct lines *lines)
{
	return lines->error;
}
