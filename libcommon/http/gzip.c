#include "http/gzip.h"

#include "base/base.h"

#include <zlib.h>

#include <string.h>

/* Papers as JSON, measured with the levels 1, 4 and 6: 39, 35 and 34 % of the length, and 22, 33
 * and 58 ms a megabyte. */
#define LEVEL 1

#define GZIP_WRAPPER 16 /* added to the window bits: write gzip's header and trailer */

struct gzip {
	struct arena *arena;
	z_stream stream;
	char *out;
	size_t room_bytes;
};

static void on_arena_freed(void *context)
{
	struct gzip *gzip = context;
	deflateEnd(&gzip->stream);
}

/* The smallest window that holds `length` bytes; zlib refuses 8 with the gzip wrapper. */
static int window_bits(size_t length)
{
	int bits = 9;
	while (bits < MAX_WBITS && ((size_t)1 << bits) < length)
		bits++;
	return bits;
}

struct gzip *gzip_new(struct arena *arena, size_t length)
{
	struct gzip *gzip = arena_new_of(arena, struct gzip);
	int bits = window_bits(length);
	int memory_level = bits - 7; /* a hash table in proportion to the window; 8 is usual */
	gzip->arena = arena;
	require(deflateInit2(&gzip->stream, LEVEL, Z_DEFLATED, bits + GZIP_WRAPPER, memory_level,
	                     Z_DEFAULT_STRATEGY) == Z_OK);
	arena_on_free(arena, on_arena_freed, gzip);
	return gzip;
}

/* Make room for everything that the piece can become, so that deflate() takes it at once. */
static void make_room(struct gzip *gzip, size_t length)
{
	size_t needed = deflateBound(&gzip->stream, length);
	if (needed <= gzip->room_bytes)
		return;
	gzip->out = arena_alloc(gzip->arena, needed);
	gzip->room_bytes = needed;
}

const char *gzip_add(struct gzip *gzip, const char *data, size_t length, bool is_last,
                     size_t *ret_length)
{
	z_stream *stream = &gzip->stream;
	make_room(gzip, length);
	stream->next_in = (Bytef *)data;
	stream->avail_in = (uInt)length;
	stream->next_out = (Bytef *)gzip->out;
	stream->avail_out = (uInt)gzip->room_bytes;
	int status = deflate(stream, is_last ? Z_FINISH : Z_SYNC_FLUSH);
	require(stream->avail_in == 0 && status == (is_last ? Z_STREAM_END : Z_OK));
	*ret_length = gzip->room_bytes - stream->avail_out;
	return gzip->out;
}
