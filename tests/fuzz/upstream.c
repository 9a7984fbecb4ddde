/* Any bytes as the answer of a service: the call ends exactly once, and the handler gets a
 * well-formed answer. Input: a byte with the size of each write (0: one write); a byte whose lowest
 * bit means a HEAD request; the bytes of the answer. */
#include "upstream/upstream.h"

#include "base/base.h"
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* What the handler of the call was called with. */
struct outcome {
	struct upstream_call *call;
	int64_t length;
	size_t content_bytes;
	bool is_head, is_ready, has_answer, is_over;
};

static void on_ready(void *user)
{
	struct outcome *outcome = user;
	static char REQUEST[] = "GET / HTTP/1.1\r\n\r\n";
	uv_buf_t buf = uv_buf_init(REQUEST, sizeof(REQUEST) - 1);
	outcome->is_ready = true;
	upstream_send(outcome->call, &buf, 1);
	upstream_sent(outcome->call);
}

static void on_answer(void *user, const struct upstream_answer *answer)
{
	struct outcome *outcome = user;
	require(!outcome->has_answer && !outcome->is_over);
	require(answer->status >= 200 && answer->status <= 599);
	outcome->has_answer = true;
	outcome->length = answer->content_length;
	for (size_t i = 0; i < answer->field_count; i++) {
		const struct http_field *field = &answer->fields[i];
		require(field->name_length > 0 && strlen(field->name) == field->name_length);
		require(strlen(field->value) == field->value_length);
		require(!strpbrk(field->value, "\r\n"));
	}
}

static void on_content(void *user, const char *data, size_t length)
{
	struct outcome *outcome = user;
	(void)data;
	require(outcome->has_answer && !outcome->is_over && length > 0 && !outcome->is_head);
	outcome->content_bytes += length;
	require(outcome->length < 0 || outcome->content_bytes <= (size_t)outcome->length);
}

static void on_end(void *user)
{
	struct outcome *outcome = user;
	require(outcome->has_answer && !outcome->is_over);
	outcome->is_over = true;
}

static void on_failed(void *user, const struct upstream_failure *failure)
{
	struct outcome *outcome = user;
	require(!outcome->is_over && failure->code != ERR_NONE && failure->reason);
	outcome->is_over = true;
}

static const struct upstream_handler HANDLER = {
	.on_ready = on_ready,
	.on_answer = on_answer,
	.on_content = on_content,
	.on_end = on_end,
	.on_failed = on_failed,
};

static struct sockaddr_un name;

static void remove_socket(void)
{
	unlink(name.sun_path);
}

/* Use a socket file: struct address cannot name a socket in the abstract namespace. */
static int listen_at_name(void)
{
	snprintf(name.sun_path, sizeof(name.sun_path), "/tmp/fuzz_upstream.%d", getpid());
	name.sun_family = AF_UNIX;
	remove_socket();
	atexit(remove_socket);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	require(bind(fd, (struct sockaddr *)&name, sizeof(name)) == 0 && listen(fd, 8) == 0);
	return fd;
}

static void answer(uv_loop_t *loop, struct outcome *outcome, int fd, const uint8_t *data,
                   size_t size, size_t piece)
{
	for (size_t at = 0; at < size && !outcome->is_over; at += piece) {
		(void)send(fd, data + at, MIN_OF(piece, size - at), MSG_NOSIGNAL);
		uv_run(loop, UV_RUN_NOWAIT);
	}
	close(fd);
	for (int i = 0; i < 10 && !outcome->is_over; i++)
		uv_run(loop, UV_RUN_NOWAIT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uv_loop_t loop;
	static int listener = -1;
	if (listener < 0) {
		uv_loop_init(&loop);
		listener = listen_at_name();
	}
	if (size < 3 || size > 60000)
		return 0;
	const struct address address = {.is_unix = true, .host = name.sun_path};
	struct upstream *service =
		upstream_new(&loop, "service", &address, &upstream_limits_default);
	struct arena *arena = arena_new();
	struct outcome outcome = {.is_head = data[1] & 1};
	bool is_ready;
	outcome.call =
		upstream_call(service, arena, &HANDLER, &outcome, outcome.is_head, true, &is_ready);
	while (!outcome.is_ready)
		uv_run(&loop, UV_RUN_NOWAIT);
	int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
	require(fd >= 0);
	answer(&loop, &outcome, fd, data + 2, size - 2, data[0] == 0 ? size : data[0]);
	require(outcome.is_over);
	upstream_free(service);
	uv_run(&loop, UV_RUN_NOWAIT);
	arena_free(arena);
	return 0;
}
