/** Writing to a libuv stream: what the socket takes is written at once, the rest is copied and written
 * when the socket takes more. */
#pragma once

#include <uv.h>

/** The copied rest was written (`status` 0), or could not be (a libuv error, below 0). */
typedef void buffered_write_cb(void *owner, int status);

/** Write all of `bufs`, behind what waits already. Returns 0, or libuv's error: the stream is
 * broken. If a rest had to be copied, `done(owner, status)` is called from the loop, also when the
 * stream is closed before; otherwise it is not called. */
int buffered_write(uv_stream_t *stream, const uv_buf_t *bufs, unsigned count,
                   buffered_write_cb *done, void *owner);
