#include "http_client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#define GUARD_MS 120000 /* a test that waits longer fails */
#define TICK_MS  5

static uint64_t guard_until_ms;

/* Repeats, because uv_run() may block again after the last event. */
static void on_guard(uv_timer_t *timer)
{
	const struct http_client *client = timer->data;
	if (uv_now(timer->loop) > guard_until_ms)
		fail_msg("waited too long; received: %s", client ? client->received : "");
}

static void guard_start(uv_timer_t *guard)
{
	guard_until_ms = uv_now(guard->loop) + GUARD_MS;
	uv_timer_start(guard, on_guard, TICK_MS, TICK_MS);
}

static void client_grow(struct http_client *client, const char *data, size_t length)
{
	if (client->length + length + 1 > client->capacity) {
		client->capacity = 2 * (client->length + length + 1);
		client->received = realloc(client->received, client->capacity);
		assert_non_null(client->received);
	}
	memcpy(client->received + client->length, data, length);
	client->length += length;
	client->received[client->length] = '\0';
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
	struct http_client *client = poll->data;
	static char chunk[65536];
	ssize_t length;
	(void)events;
	/* After a reset, libuv polls no more: read what came before it. */
	do {
		length = recv(client->fd, chunk, sizeof(chunk), 0);
		if (length > 0)
			client_grow(client, chunk, (size_t)length);
	} while (status < 0 && length > 0);
	if (length > 0)
		return;
	if (length == 0 || (errno != EAGAIN && errno != EINTR)) {
		client->is_at_end = true;
		client->is_reset = length < 0;
		uv_poll_stop(&client->poll);
	}
}

struct http_client *http_client_adopt(uv_loop_t *loop, int fd)
{
	struct http_client *client = calloc(1, sizeof(*client));
	assert_non_null(client);
	client->loop = loop;
	client->fd = fd;
	assert_int_equal(fcntl(client->fd, F_SETFL, O_NONBLOCK), 0);
	client_grow(client, "", 0);
	uv_poll_init(loop, &client->poll, client->fd);
	uv_timer_init(loop, &client->guard);
	client->poll.data = client->guard.data = client;
	client->handle_count = 2;
	http_client_reads(client, true);
	return client;
}

static struct http_client *client_new(uv_loop_t *loop, const struct sockaddr *to, socklen_t length)
{
	int fd = socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	assert_int_equal(connect(fd, to, length), 0);
	return http_client_adopt(loop, fd);
}

struct http_client *http_client_new(uv_loop_t *loop, uint16_t port)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	return client_new(loop, (struct sockaddr *)&to, sizeof(to));
}

struct http_client *http_client_new_unix(uv_loop_t *loop, const char *path)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	memcpy(to.sun_path, path, strlen(path) + 1);
	return client_new(loop, (struct sockaddr *)&to, sizeof(to));
}

void http_client_reads(struct http_client *client, bool is_reading)
{
	static const int BUFFER_BYTES = 64 << 10;
	if (is_reading) {
		uv_poll_start(&client->poll, UV_READABLE, on_readable);
		return;
	}
	uv_poll_stop(&client->poll);
	setsockopt(client->fd, SOL_SOCKET, SO_RCVBUF, &BUFFER_BYTES, sizeof(BUFFER_BYTES));
}

void http_client_send(struct http_client *client, const void *data, size_t length)
{
	const char *at = data;
	guard_start(&client->guard);
	while (length > 0) {
		ssize_t sent = send(client->fd, at, length, MSG_NOSIGNAL);
		if (sent > 0) {
			at += sent;
			length -= (size_t)sent;
		} else if (errno == EPIPE || errno == ECONNRESET) {
			break;
		}
		uv_run(client->loop, UV_RUN_NOWAIT);
	}
	uv_timer_stop(&client->guard);
}

void http_client_puts(struct http_client *client, const char *text)
{
	http_client_send(client, text, strlen(text));
}

void http_client_wait_end(struct http_client *client)
{
	guard_start(&client->guard);
	while (!client->is_at_end)
		uv_run(client->loop, UV_RUN_ONCE);
	uv_timer_stop(&client->guard);
}

size_t http_client_count(const struct http_client *client, const char *text)
{
	size_t count = 0, length = strlen(text);
	const char *at = client->received, *end = client->received + client->length;
	while ((at = memmem(at, (size_t)(end - at), text, length))) {
		count++;
		at += length;
	}
	return count;
}

void http_client_wait_text(struct http_client *client, const char *text, size_t count)
{
	guard_start(&client->guard);
	while (http_client_count(client, text) < count) {
		if (client->is_at_end)
			fail_msg("closed before '%s'; received: %s", text, client->received);
		uv_run(client->loop, UV_RUN_ONCE);
	}
	uv_timer_stop(&client->guard);
}

int http_client_status(const struct http_client *client, size_t index)
{
	static const char START[] = "HTTP/1.1 ";
	const char *at = client->received;
	while ((at = strstr(at, START))) {
		at += sizeof(START) - 1;
		int status = (int)strtol(at, NULL, 10);
		if (status < 200)
			continue;
		if (index-- == 0)
			return status;
	}
	return 0;
}

static void on_closed(uv_handle_t *handle)
{
	struct http_client *client = handle->data;
	if (--client->handle_count > 0)
		return;
	free(client->received);
	free(client);
}

void http_client_free(struct http_client *client)
{
	uv_loop_t *loop = client->loop;
	uv_close((uv_handle_t *)&client->poll, on_closed);
	close(client->fd);
	uv_close((uv_handle_t *)&client->guard, on_closed);
	uv_run(loop, UV_RUN_NOWAIT);
}

void http_client_reset(struct http_client *client)
{
	static const struct linger ABORT = {.l_onoff = 1, .l_linger = 0};
	(void)setsockopt(client->fd, SOL_SOCKET, SO_LINGER, &ABORT, sizeof(ABORT));
	http_client_free(client);
}

void loop_run_until(uv_loop_t *loop, const bool *condition)
{
	uv_timer_t guard;
	uv_timer_init(loop, &guard);
	guard.data = NULL;
	guard_start(&guard);
	while (!*condition)
		uv_run(loop, UV_RUN_ONCE);
	uv_close((uv_handle_t *)&guard, NULL);
	uv_run(loop, UV_RUN_NOWAIT);
}

uint64_t loop_patience_ms(const uv_loop_t *loop)
{
	return uv_now(loop) + GUARD_MS;
}

/* Does not block: the condition may change without an event of this loop. */
void loop_turn(uv_loop_t *loop, uint64_t give_up_ms, const char *condition)
{
	uv_run(loop, UV_RUN_NOWAIT);
	if (uv_now(loop) > give_up_ms)
		fail_msg("never: %s", condition);
	poll(NULL, 0, 1);
}

static void on_passed(uv_timer_t *timer)
{
	*(bool *)timer->data = true;
}

void loop_run_for(uv_loop_t *loop, uint64_t time_ms)
{
	bool has_passed = false;
	uv_timer_t timer;
	uv_timer_init(loop, &timer);
	timer.data = &has_passed;
	uv_timer_start(&timer, on_passed, time_ms, 0);
	loop_run_until(loop, &has_passed);
	uv_close((uv_handle_t *)&timer, NULL);
	uv_run(loop, UV_RUN_NOWAIT);
}
