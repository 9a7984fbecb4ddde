#include "redis/uv.h"

#include <stdlib.h>

/* Freed after its context, when libuv has closed the handle. */
struct watcher {
	uv_poll_t poll;
	redisAsyncContext *context; /* NULL: freed */
	int events;                 /* what hiredis waits for, UV_READABLE | UV_WRITABLE */
	redis_uv_end_cb *on_end;
	void *arg;
};

static void on_poll(uv_poll_t *handle, int status, int events)
{
	struct watcher *watcher = handle->data;
	if (status < 0) {
		/* libuv has stopped watching. Let hiredis read the socket's error first. */
		redisAsyncHandleRead(watcher->context);
		if (watcher->context)
			redisAsyncFree(watcher->context);
		return;
	}
	if (events & UV_READABLE)
		redisAsyncHandleRead(watcher->context);
	if (watcher->context && (events & UV_WRITABLE))
		redisAsyncHandleWrite(watcher->context);
}

static void watch(struct watcher *watcher, int events)
{
	if (events == watcher->events)
		return;
	watcher->events = events;
	if (events)
		uv_poll_start(&watcher->poll, events, on_poll);
	else
		uv_poll_stop(&watcher->poll);
}

static void add_read(void *arg)
{
	struct watcher *watcher = arg;
	watch(watcher, watcher->events | UV_READABLE);
}

static void del_read(void *arg)
{
	struct watcher *watcher = arg;
	watch(watcher, watcher->events & ~UV_READABLE);
}

static void add_write(void *arg)
{
	struct watcher *watcher = arg;
	watch(watcher, watcher->events | UV_WRITABLE);
}

static void del_write(void *arg)
{
	struct watcher *watcher = arg;
	watch(watcher, watcher->events & ~UV_WRITABLE);
}

static void on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

static void cleanup(void *arg)
{
	struct watcher *watcher = arg;
	const redisAsyncContext *context = watcher->context;
	watcher->context = NULL;
	uv_close((uv_handle_t *)&watcher->poll, on_closed);
	watcher->on_end(watcher->arg, context);
}

enum err_code redis_uv_attach(redisAsyncContext *context, uv_loop_t *loop, redis_uv_end_cb *on_end,
                              void *arg)
{
	struct watcher *watcher = calloc(1, sizeof(*watcher));
	require(watcher);
	if (uv_poll_init(loop, &watcher->poll, context->c.fd) != 0) {
		free(watcher);
		return ERR_UNAVAILABLE;
	}
	watcher->poll.data = watcher;
	watcher->context = context;
	watcher->on_end = on_end;
	watcher->arg = arg;
	context->ev.data = watcher;
	context->ev.addRead = add_read;
	context->ev.delRead = del_read;
	context->ev.addWrite = add_write;
	context->ev.delWrite = del_write;
	context->ev.cleanup = cleanup;
	return ERR_NONE;
}
