#include "loop/buffered_write.h"

#include "base/base.h"

#include <stdlib.h>
#include <string.h>

/* A copy of the bytes that the socket did not accept at once. */
struct rest {
	uv_write_t req;
	buffered_write_cb *done;
	void *owner;
	char data[];
};

static void on_written(uv_write_t *req, int status)
{
	struct rest *rest = CONTAINER_OF(req, struct rest, req);
	buffered_write_cb *done = rest->done;
	void *owner = rest->owner;
	free(rest);
	done(owner, status);
}

/* Copy the last `length` bytes. */
static struct rest *rest_new(const uv_buf_t *bufs, unsigned count, size_t length)
{
	struct rest *rest = malloc(sizeof(*rest) + length);
	require(rest);
	while (length > 0) {
		const uv_buf_t *buf = &bufs[--count];
		size_t kept = MIN_OF(length, buf->len);
		length -= kept;
		memcpy(rest->data + length, buf->base + buf->len - kept, kept);
	}
	return rest;
}

int buffered_write(uv_stream_t *stream, const uv_buf_t *bufs, unsigned count,
                   buffered_write_cb *done, void *owner)
{
	size_t total = 0;
	for (unsigned i = 0; i < count; i++)
		total += bufs[i].len;
	int sent = uv_try_write(stream, bufs, count);
	if (sent < 0 && sent != UV_EAGAIN)
		return sent;
	size_t left = total - (size_t)MAX_OF(sent, 0);
	if (left == 0)
		return 0;
	struct rest *rest = rest_new(bufs, count, left);
	rest->done = done;
	rest->owner = owner;
	uv_buf_t buf = uv_buf_init(rest->data, (unsigned)left);
	int code = uv_write(&rest->req, stream, &buf, 1, on_written);
	if (code != 0)
		free(rest);
	return code;
}
