/** A TLS connection of a server or of a client, without its socket. */
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
	TLS_ENDED,  /* the peer has sent close_notify; it may still read */
	TLS_FAILED, /* the peer broke the protocol, or is not trusted; nothing works now */
};

/** Send bytes to the peer; they are valid during the call. */
typedef void tls_send_fn(void *owner, const void *data, size_t length);

/** The connection of a server to a client. Borrows the context. */
struct tls_conn *tls_conn_new(struct tls_context *context, tls_send_fn *send, void *owner);

/** That of a client to a server: sends the first message. The server is refused unless an authority
 * of the context has signed its certificate and this is for `host`, a DNS name or an IP address. A
 * name is also sent to the server, which may have several (RFC 6066 section 3). */
struct tls_conn *tls_conn_connect(struct tls_context *context, const char *host, tls_send_fn *send,
                                  void *owner);

/** NULL is fine. Sends nothing. The context may be gone, but not its store or trust. */
void tls_conn_free(struct tls_conn *conn);

/** Whether a first byte is that of a TLS handshake. */
bool tls_conn_is_hello(char first);

/** Take bytes from the peer, at most TLS_INPUT_MAX. `ret_text` is what was in them, perhaps
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

/** In TLS_FAILED: why, in our words for a certificate that is refused, else in those of mbedTLS. */
const char *tls_conn_fault(const struct tls_conn *conn);

/** In TLS_FAILED: whether it is the certificate of the server that is refused. */
bool tls_conn_is_refused(const struct tls_conn *conn);
