#include "http/gunzip.h"

#include "base/base.h"

#include <zlib.h>

#include <limits.h>
#include <string.h>
#include <strings.h>

#define GZIP_WRAPPER 16 /* added to the window bits: read gzip's header and trailer */

/* Whether the element is one of the names of gzip. */
static bool is_gzip(const char *element, size_t length)
{
	return (length == 4 && strncasecmp(element, "gzip", 4) == 0) ||
	       (length == 6 && strncasecmp(element, "x-gzip", 6) == 0);
}

/* The number of gzip codings in a list; INT_MAX: it has another one. */
static int list_read(const char *list)
{
	int count = 0;
	while (*list) {
		list += strspn(list, ", \t");
		size_t length = strcspn(list, ", \t");
		if (is_gzip(list, length))
			count++;
		else if (length > 0 && !(length == 8 && strncasecmp(list, "identity", 8) == 0))
			return INT_MAX;
		list += length;
	}
	return count;
}

enum content_coding content_coding_of(const struct http_head *head)
{
	int count = 0;
	for (size_t i = 0; i < head->field_count && count <= 1; i++) {
		const struct http_field *field = &head->fields[i];
		if (field->name_length != 16 || strcasecmp(field->name, "Content-Encoding") != 0)
			continue;
		int listed = list_read(field->value);
		count = listed == INT_MAX ? INT_MAX : count + listed;
	}
	return count == 0 ? CODING_NONE : count == 1 ? CODING_GZIP : CODING_OTHER;
}

struct gunzip {
	z_stream stream;
	bool is_in_member;
};

static void on_arena_freed(void *context)
{
	struct gunzip *gunzip = context;
	inflateEnd(&gunzip->stream);
}

struct gunzip *gunzip_new(struct arena *arena, const char *data, size_t length)
{
	struct gunzip *gunzip = arena_new_of(arena, struct gunzip);
	require(length <= UINT_MAX);
	gunzip->stream.next_in = (Bytef *)data;
	gunzip->stream.avail_in = (uInt)length;
	gunzip->is_in_member = true;
	require(inflateInit2(&gunzip->stream, MAX_WBITS + GZIP_WRAPPER) == Z_OK);
	arena_on_free(arena, on_arena_freed, gunzip);
	return gunzip;
}

/* Decode up to the end of a member, of the input or of the room. */
static enum gunzip_status read_member(struct gunzip *gunzip)
{
	z_stream *stream = &gunzip->stream;
	int status = inflate(stream, Z_NO_FLUSH);
	gunzip->is_in_member = status != Z_STREAM_END;
	if (status == Z_STREAM_END)
		return stream->avail_in > 0 ? GUNZIP_MORE : GUNZIP_END;
	if (status != Z_OK && status != Z_BUF_ERROR)
		return GUNZIP_INVALID;
	return stream->avail_in == 0 && stream->avail_out > 0 ? GUNZIP_TRUNCATED : GUNZIP_MORE;
}

enum gunzip_status gunzip_read(struct gunzip *gunzip, char *out, size_t room, size_t *ret_length)
{
	z_stream *stream = &gunzip->stream;
	enum gunzip_status status = GUNZIP_MORE;
	stream->next_out = (Bytef *)out;
	stream->avail_out = (uInt)MIN_OF(room, (size_t)UINT_MAX);
	uInt room_before = stream->avail_out;
	while (status == GUNZIP_MORE && stream->avail_out > 0) {
		if (!gunzip->is_in_member) /* another member follows */
			require(inflateReset(stream) == Z_OK);
		status = read_member(gunzip);
	}
	*ret_length = room_before - stream->avail_out;
	return status;
}

size_t gunzip_left(const struct gunzip *gunzip)
{
	return gunzip->stream.avail_in;
}
