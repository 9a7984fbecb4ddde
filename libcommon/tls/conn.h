/** A TLS connection of a server, without its socket. */
#pragma once

#include "tls/tls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tls_conn;
struct tls_context;

enum tls_state {
	TLS_HANDSHAKE,
	TLS_OPEN,
	TLS_ENDED,  /* the client has sent close_notify; it may still read */
	TLS_FAILED, /* the client broke the protocol; an alert was sent, and nothing works now */
};

/** Send bytes to the client; they are valid during the call. */
typedef void tls_send_fn(void *owner, const void *data, size_t length);

/** Borrows the context. */
struct tls_conn *tls_conn_new(struct tls_context *context, tls_send_fn *send, void *owner);

/** NULL is fine. Sends nothing. */
void tls_conn_free(struct tls_conn *conn);

/** Whether a first byte is that of a TLS handshake. */
bool tls_conn_is_hello(char first);

/** Take bytes from the client, at most TLS_INPUT_MAX. `ret_text` is what was in them, perhaps
 * nothing, in the context's memory until the next call for any of its connections; it may come
 * together with TLS_ENDED. */
enum tls_state tls_conn_receive(struct tls_conn *conn, const void *data, size_t length,
                                const char **ret_text, size_t *ret_length);

/** Encrypt and send. What is written is gathered into whole records; tls_conn_flush() sends the
 * last, and is called before anything else is done with a connection of the context. False: the
 * connection has failed. Only once the handshake is over. */
void tls_conn_write(struct tls_conn *conn, const void *data, size_t length);
bool tls_conn_flush(struct tls_conn *conn);

/** Send close_notify, once: nothing can be written after it. */
void tls_conn_end(struct tls_conn *conn);

/** Whether the handshake continued an earlier session. */
bool tls_conn_is_resumed(const struct tls_conn *conn);

/** In TLS_FAILED: why, in the words of mbedTLS. */
const char *tls_conn_fault(const struct tls_conn *conn);
