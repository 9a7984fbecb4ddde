#include "task/job_wake.h"

#include "base/base.h"

#include <stdlib.h>

struct job_wake {
	uv_mutex_t mutex; /* of is_idle; and `async` is open while that is true */
	bool is_idle;
	uv_async_t *async; /* freed once libuv has closed it */
	void (*cb)(void *context);
	void *context;
};

struct job_wake *job_wake_new(void)
{
	struct job_wake *wake = calloc(1, sizeof(*wake));
	require(wake && uv_mutex_init(&wake->mutex) == 0);
	return wake;
}

void job_wake_free(struct job_wake *wake)
{
	if (!wake)
		return;
	uv_mutex_destroy(&wake->mutex);
	free(wake);
}

static void on_async(uv_async_t *async)
{
	const struct job_wake *wake = async->data;
	wake->cb(wake->context);
}

void job_wake_open(struct job_wake *wake, uv_loop_t *loop, void (*cb)(void *context), void *context)
{
	wake->cb = cb;
	wake->context = context;
	wake->async = calloc(1, sizeof(*wake->async));
	require(wake->async && uv_async_init(loop, wake->async, on_async) == 0);
	wake->async->data = wake;
}

static void on_closed(uv_handle_t *handle)
{
	free(handle);
}

void job_wake_close(struct job_wake *wake)
{
	job_wake_set_idle(wake, false);
	uv_close((uv_handle_t *)wake->async, on_closed);
}

void job_wake_set_idle(struct job_wake *wake, bool is_idle)
{
	uv_mutex_lock(&wake->mutex);
	wake->is_idle = is_idle;
	uv_mutex_unlock(&wake->mutex);
}

bool job_wake_send(struct job_wake *wake)
{
	if (!wake)
		return false;
	uv_mutex_lock(&wake->mutex);
	bool is_sent = wake->is_idle;
	wake->is_idle = false;
	if (is_sent)
		uv_async_send(wake->async);
	uv_mutex_unlock(&wake->mutex);
	return is_sent;
}
