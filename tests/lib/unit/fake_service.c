#include "fake_service.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define PATIENCE_MS 120000

static const int SMALL = 32 << 10;

static void on_connection(uv_poll_t *poll, int status, int events)
{
	struct fake_service *fake = poll->data;
	(void)status;
	(void)events;
	int fd = accept(fake->fd, NULL, NULL);
	if (fd < 0)
		return;
	assert_true(fake->count < FAKE_CONNS_MAX);
	fake->conns[fake->count++] = http_client_adopt(fake->loop, fd);
}

struct fake_service *fake_service_new(uv_loop_t *loop)
{
	struct fake_service *fake = calloc(1, sizeof(*fake));
	assert_non_null(fake);
	struct sockaddr_in name = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t length = sizeof(name);
	fake->loop = loop;
	fake->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* A small receive buffer fills up soon when the test does not read. */
	assert_int_equal(setsockopt(fake->fd, SOL_SOCKET, SO_RCVBUF, &SMALL, sizeof(SMALL)), 0);
	assert_int_equal(bind(fake->fd, (struct sockaddr *)&name, length), 0);
	assert_int_equal(listen(fake->fd, 64), 0);
	assert_int_equal(getsockname(fake->fd, (struct sockaddr *)&name, &length), 0);
	fake->port = ntohs(name.sin_port);
	uv_poll_init(loop, &fake->poll, fake->fd);
	fake->poll.data = fake;
	uv_poll_start(&fake->poll, UV_READABLE, on_connection);
	return fake;
}

static void on_tick(uv_timer_t *timer)
{
	(void)timer;
}

struct http_client *fake_service_conn(struct fake_service *fake, size_t index)
{
	uv_timer_t tick;
	uv_timer_init(fake->loop, &tick);
	uv_timer_start(&tick, on_tick, 5, 5);
	uint64_t until_ms = uv_now(fake->loop) + PATIENCE_MS;
	while (fake->count <= index) {
		uv_run(fake->loop, UV_RUN_ONCE);
		if (uv_now(fake->loop) > until_ms)
			fail_msg("no connection was made");
	}
	uv_close((uv_handle_t *)&tick, NULL);
	uv_run(fake->loop, UV_RUN_NOWAIT);
	return fake->conns[index];
}

void fake_service_close(struct fake_service *fake, size_t index)
{
	http_client_free(fake->conns[index]);
	fake->conns[index] = NULL;
}

void fake_service_unlisten(struct fake_service *fake)
{
	if (fake->fd < 0)
		return;
	uv_poll_stop(&fake->poll);
	close(fake->fd);
	fake->fd = -1;
}

static void on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

void fake_service_free(struct fake_service *fake)
{
	fake_service_unlisten(fake);
	for (size_t i = 0; i < fake->count; i++)
		if (fake->conns[i])
			fake_service_close(fake, i);
	uv_close((uv_handle_t *)&fake->poll, on_closed);
}
