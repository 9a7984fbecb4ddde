/** A raw HTTP client for tests, on the same loop as the server: sends given bytes and collects the
 * bytes received. */
#pragma once

#include <uv.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_client {
	uv_loop_t *loop;
	uv_poll_t poll;
	uv_timer_t guard; /* fails the test when a wait lasts too long */
	int fd;
	unsigned handle_count;
	char *received; /* everything the server sent, NUL-terminated */
	size_t length, capacity;
	bool is_at_end; /* the server has closed its side, or reset the connection */
	bool is_reset;
};

/** Connect to 127.0.0.1:`port`. */
struct http_client *http_client_new(uv_loop_t *loop, uint16_t port);

/** Connect to the unix socket at `path`. */
struct http_client *http_client_new_unix(uv_loop_t *loop, const char *path);

/** Make a client of a connected socket; takes `fd`. */
struct http_client *http_client_adopt(uv_loop_t *loop, int fd);

/** Send all bytes, and run the loop while the socket is full. Stops without an error when the
 * server has reset the connection. */
void http_client_send(struct http_client *client, const void *data, size_t length);
void http_client_puts(struct http_client *client, const char *text);

/** Start or stop reading; a new client reads. Stopping also fixes the socket's receive buffer at a
 * small size, which the kernel would otherwise grow to tens of megabytes. */
void http_client_reads(struct http_client *client, bool is_reading);

/** Run the loop until the server has closed. */
void http_client_wait_end(struct http_client *client);

/** Run the loop until `text` has been received `count` times. */
void http_client_wait_text(struct http_client *client, const char *text, size_t count);

/** How often `text` has been received. */
size_t http_client_count(const struct http_client *client, const char *text);

/** Status of the final response `index`, from 0; 0: there are fewer. */
int http_client_status(const struct http_client *client, size_t index);

/** Close and free; runs the loop for the close callbacks. */
void http_client_free(struct http_client *client);

/** As http_client_free(), but reset the connection: the server notices that nobody waits for its
 * response. */
void http_client_reset(struct http_client *client);

/** Run the loop until `*condition` holds; fails the test after a long time. */
void loop_run_until(uv_loop_t *loop, const bool *condition);

/** As loop_run_until(), for an expression that is evaluated between two turns of the loop. */
#define loop_until(loop, condition)                                       \
	for (uint64_t give_up_ms = loop_patience_ms(loop); !(condition);) \
	loop_turn((loop), give_up_ms, #condition)

/** Used by loop_until(). */
uint64_t loop_patience_ms(const uv_loop_t *loop);
void loop_turn(uv_loop_t *loop, uint64_t give_up_ms, const char *condition);

/** Run the loop for `time_ms` of its clock, so that everything due by then has happened. */
void loop_run_for(uv_loop_t *loop, uint64_t time_ms);
