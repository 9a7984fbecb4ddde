#include "loop/late_write.h"

#include "base/base.h"

#include <stdlib.h>
#include <string.h>

/* Bytes that the socket did not take at once. */
struct late {
	uv_write_t req;
	late_write_cb *done;
	void *owner;
	char data[];
};

static void on_written(uv_write_t *req, int status)
{
	struct late *late = CONTAINER_OF(req, struct late, req);
	late_write_cb *done = late->done;
	void *owner = late->owner;
	free(late);
	done(owner, status);
}

/* A copy of the last `length` bytes. */
static struct late *late_new(const uv_buf_t *bufs, unsigned count, size_t length)
{
	struct late *late = malloc(sizeof(*late) + length);
	require(late != NULL);
	while (length > 0) {
		const uv_buf_t *buf = &bufs[--count];
		size_t kept = MIN_OF(length, buf->len);
		length -= kept;
		memcpy(late->data + length, buf->base + buf->len - kept, kept);
	}
	return late;
}

int late_write(uv_stream_t *stream, const uv_buf_t *bufs, unsigned count, late_write_cb *done,
               void *owner)
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
	struct late *late = late_new(bufs, count, left);
	late->done = done;
	late->owner = owner;
	uv_buf_t rest = uv_buf_init(late->data, (unsigned)left);
	int code = uv_write(&late->req, stream, &rest, 1, on_written);
	if (code != 0)
		free(late);
	return code;
}
