/** Writes to a libuv stream: what the socket accepts is written at once; the rest is copied and
 * written when the socket accepts more. */
#pragma once

#include <uv.h>

/** The copied rest was written (`status` 0), or writing it failed (`status` is libuv's error, below
 * 0). */
typedef void buffered_write_cb(void *owner, int status);

/** Write all of `bufs`, after the data that is already queued. Returns 0, or libuv's error: the
 * stream is broken. If a rest had to be copied, `done(owner, status)` is called from the loop, also
 * when the stream is closed first; otherwise it is not called. */
int buffered_write(uv_stream_t *stream, const uv_buf_t *bufs, unsigned count,
                   buffered_write_cb *done, void *owner);
