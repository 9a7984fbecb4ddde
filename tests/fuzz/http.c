/* The HTTP server: for any input, each request that reaches the handler is well formed and ends
 * exactly once, and the connection is closed at the end. Input: the size of the reads (first byte;
 * 0: all at once), then the bytes of a connection. */
#include "base/base.h"
#include "fuzz.h"
#include "http/internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static size_t heads, dones, ends, content_bytes;

static void check_text(const char *text, size_t length)
{
	require(strlen(text) == length);
	for (size_t i = 0; i < length; i++)
		require((unsigned char)text[i] >= 0x20 || text[i] == '\t');
}

static void on_head(struct http_exchange *x)
{
	const struct http_head *head = &x->head;
	heads++;
	require(heads == dones + 1);
	require(head->target[0] == '/' || strcmp(head->target, "*") == 0);
	require(head->path_length <= head->target_length);
	check_text(head->target, head->target_length);
	for (size_t i = 0; i < head->field_count; i++) {
		require(head->fields[i].name_length > 0);
		check_text(head->fields[i].name, head->fields[i].name_length);
		check_text(head->fields[i].value, head->fields[i].value_length);
	}
	require(http_head_count(head, "Host") <= 1);
	require(http_head_count(head, "Content-Length") +
	                http_head_count(head, "Transfer-Encoding") <=
	        1);
	require(!head->is_chunked || head->content_length == -1);
	content_bytes = 0;
}

static void on_content(struct http_exchange *x, const char *data, size_t length)
{
	require(length > 0 && x->head.has_content);
	(void)data;
	content_bytes += length;
}

static void on_end(struct http_exchange *x)
{
	ends++;
	require(x->head.is_chunked || content_bytes == (size_t)MAX_OF(x->head.content_length, 0));
	http_respond_start(x, 200, NULL, 0, 2);
	http_respond_content(x, "ok", 2);
	http_respond_end(x);
}

static void on_done(struct http_exchange *x)
{
	(void)x;
	dones++;
	require(heads == dones);
}

static const struct http_handler HANDLER = {
	.on_head = on_head,
	.on_content = on_content,
	.on_end = on_end,
	.on_done = on_done,
};

/* Read and drop the replies, so that the server does not wait. */
static void drop_replies(int fd)
{
	char buffer[4096];
	while (recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT) > 0)
		;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uv_loop_t loop;
	static struct http_server *server;
	static struct http_listener listener;
	if (!server) {
		uv_loop_init(&loop);
		server = http_server_new(&loop, &HANDLER, &http_limits_default, NULL);
		listener.server = server;
	}
	if (size < 2 || size > 60000)
		return 0;
	size_t piece = data[0] == 0 ? size : data[0];
	int fds[2];
	const struct sockaddr_storage from = {.ss_family = AF_UNIX};
	require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) == 0);
	heads = dones = ends = 0;
	http_conn_new(&listener, fds[0], &from);
	for (size_t at = 1; at < size; at += piece) {
		(void)send(fds[1], data + at, MIN_OF(piece, size - at), MSG_NOSIGNAL);
		uv_run(&loop, UV_RUN_NOWAIT);
		drop_replies(fds[1]);
	}
	close(fds[1]);
	while (http_server_connections(server) > 0)
		uv_run(&loop, UV_RUN_NOWAIT);
	uv_run(&loop, UV_RUN_NOWAIT);
	require(heads == dones && ends <= heads);
	return 0;
}
