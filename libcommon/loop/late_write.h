/** Writing to a libuv stream: at once what the socket takes, a copy of the rest when it can. */
#pragma once

#include <uv.h>

/** What was copied has gone out; below 0 it has not, and libuv's error says why. */
typedef void late_write_cb(void *owner, int status);

/** Write all of `bufs`, behind what waits already. Returns 0, or libuv's error: the stream is
 * broken. Where something had to be copied, `done(owner, status)` is called from the loop, also
 * when the stream is closed before; otherwise not at all. */
int late_write(uv_stream_t *stream, const uv_buf_t *bufs, unsigned count, late_write_cb *done,
               void *owner);
