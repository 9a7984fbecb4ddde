/** A raw client for tests of servers on the same loop: it sends bytes as they are and keeps what
 * comes back. */
#pragma once

#include <uv.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What came from the server, NUL-terminated. */
struct http_client {
	uv_loop_t *loop;
	uv_poll_t poll;
	uv_timer_t guard; /* fails the test when a wait lasts too long */
	int fd;
	unsigned handle_count;
	char *received;
	size_t length, capacity;
	bool is_at_end; /* the server has closed its side, or reset the connection */
	bool is_reset;
};

/** Connect to 127.0.0.1:`port`. */
struct http_client *http_client_new(uv_loop_t *loop, uint16_t port);

/** Connect to the unix socket at `path`. */
struct http_client *http_client_new_unix(uv_loop_t *loop, const char *path);

/** Be the other end of a connected socket; takes `fd`. */
struct http_client *http_client_adopt(uv_loop_t *loop, int fd);

/** Send all of it, running the loop while the socket is full. Gives up silently when the server has
 * reset the connection. */
void http_client_send(struct http_client *client, const void *data, size_t length);
void http_client_puts(struct http_client *client, const char *text);

/** Take in what comes (the beginning) or leave it in the socket, whose buffer stays small from then on:
 * left alone, the kernel lets it grow to tens of megabytes. */
void http_client_reads(struct http_client *client, bool is_reading);

/** Run the loop until the server has closed. */
void http_client_wait_end(struct http_client *client);

/** Run the loop until `text` has come `count` times. */
void http_client_wait_text(struct http_client *client, const char *text, size_t count);

/** How often `text` came. */
size_t http_client_count(const struct http_client *client, const char *text);

/** Status of the `index`-th final response, 0: there are not so many. */
int http_client_status(const struct http_client *client, size_t index);

/** Close and free; the loop runs until libuv is done with it. */
void http_client_free(struct http_client *client);

/** Run the loop until `*condition` holds; fails the test when it never does. */
void loop_run_until(uv_loop_t *loop, const bool *condition);

/** The same of an expression, which is looked at between two turns. */
#define loop_until(loop, condition)                                        \
	for (uint64_t patience_ms = loop_patience_ms(loop); !(condition);) \
	loop_turn((loop), patience_ms, #condition)

/** Parts of loop_until(). */
uint64_t loop_patience_ms(const uv_loop_t *loop);
void loop_turn(uv_loop_t *loop, uint64_t patience_ms, const char *wanted);

/** Run the loop until its clock has gone on by `time_ms`, so that whatever was to happen by then
 * did. */
void loop_run_for(uv_loop_t *loop, uint64_t time_ms);
