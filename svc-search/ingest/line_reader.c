#include "ingest/line_reader.h"

#include "base/base.h"

#include <zlib.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define INFLATE_BYTES (256 * 1024)

/* The longest line with its CR and LF. */
#define BUFFER_BYTES (LINE_MAX_BYTES + 2)

/* data[at, end) has been read from the file and not yet returned. */
struct line_reader {
	gzFile file; /* zlib reads plain files unchanged */
	off_t size;
	size_t path_length;
	char *data; /* BUFFER_BYTES */
	size_t at, end;
	size_t number;
	bool is_over;
	const char *error; /* NULL: none so far */
	char error_text[128];
};

struct line_reader *line_reader_open(const char *path)
{
	struct stat status;
	gzFile file = gzopen(path, "rb");
	if (!file)
		return NULL;
	if (stat(path, &status) != 0) {
		gzclose(file);
		return NULL;
	}
	struct line_reader *reader = calloc(1, sizeof(*reader));
	require(reader);
	reader->data = malloc(BUFFER_BYTES);
	require(reader->data);
	reader->file = file;
	reader->size = status.st_size;
	reader->path_length = strlen(path);
	gzbuffer(file, INFLATE_BYTES);
	return reader;
}

void line_reader_close(struct line_reader *reader)
{
	if (!reader)
		return;
	gzclose_r(reader->file);
	free(reader->data);
	free(reader);
}

/* Move the unread bytes to the front and fill the rest of the buffer. If gzread() returns fewer
 * bytes than requested, the file has ended or cannot be read further. */
static void fill(struct line_reader *reader)
{
	memmove(reader->data, reader->data + reader->at, reader->end - reader->at);
	reader->end -= reader->at;
	reader->at = 0;
	errno = 0;
	int room = (int)(BUFFER_BYTES - reader->end), code = Z_OK;
	int count = gzread(reader->file, reader->data + reader->end, (unsigned)room);
	const char *why = gzerror(reader->file, &code);
	reader->end += (size_t)MAX_OF(count, 0);
	reader->is_over = count < room;
	/* zlib puts "PATH: " before its own messages. */
	if (reader->is_over && code == Z_ERRNO)
		reader->error = strerror_r(errno, reader->error_text, sizeof(reader->error_text));
	else if (reader->is_over && code != Z_OK && code != Z_STREAM_END)
		reader->error =
			why + (strlen(why) > reader->path_length ? reader->path_length + 2 : 0);
}

/* The LF of the next line, after filling the buffer if it has none; NULL: none in the full
 * buffer. */
static char *find_end(struct line_reader *reader)
{
	char *found = memchr(reader->data + reader->at, '\n', reader->end - reader->at);
	if (found || reader->is_over)
		return found;
	size_t searched = reader->end - reader->at;
	fill(reader);
	return memchr(reader->data + searched, '\n', reader->end - searched);
}

/* Skip to the end of a line that is longer than the buffer. */
static void skip_rest(struct line_reader *reader)
{
	char *end;
	do {
		reader->at = reader->end;
		end = find_end(reader);
	} while (!end && !reader->is_over);
	reader->at = end ? (size_t)(end + 1 - reader->data) : reader->end;
}

enum line_kind line_reader_next(struct line_reader *reader, const char **ret_line,
                                size_t *ret_length)
{
	char *end = find_end(reader);
	char *start = reader->data + reader->at;
	size_t length = end ? (size_t)(end - start) : reader->end - reader->at;
	if (!end && length == 0)
		return reader->error ? LINE_ERROR : LINE_END;
	reader->number++;
	if (!end && !reader->is_over) {
		skip_rest(reader);
		return LINE_TOO_LONG;
	}
	reader->at += length + (end ? 1 : 0);
	if (length && start[length - 1] == '\r')
		length--;
	*ret_line = start;
	*ret_length = length;
	return length > LINE_MAX_BYTES ? LINE_TOO_LONG : LINE_TEXT;
}

size_t line_reader_number(const struct line_reader *reader)
{
	return reader->number;
}

double line_reader_progress(const struct line_reader *reader)
{
	return reader->size > 0 ? (double)gzoffset(reader->file) / (double)reader->size : 1;
}

const char *line_reader_error(const struct line_reader *reader)
{
	return reader->error;
}
