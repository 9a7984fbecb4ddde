/** libcommon/tls/: TLS for servers, and for clients of Redis, over mbedTLS: 1.2, and 1.3 where
 * mbedTLS is 3.6. It knows no sockets: a connection takes bytes that were received, and hands out
 * bytes to be sent.
 *
 *     settings.c      the settings of a server, and what a process refuses to start with
 *     file.c          reading a file, and noticing that it has changed
 *     pem.c           reading a certificate and its key
 *     store.c         the certificates of a process, read again when their files change
 *     ticket.c        the keys of session tickets
 *     trust.c         the authorities that a client trusts, read again when their file changes
 *     context.c       what a worker has: its copy of the certificates, and buffers
 *     conn.c          a connection: handshake, decrypting, encrypting
 *     version.h       what differs between versions of mbedTLS
 *
 * A server has one store (struct tls_store), which its workers share. Each worker has a context
 * with its own copies of the private keys, because mbedTLS locks an RSA key while it signs. When
 * the store has read new certificates, the context takes them for its next connection; older
 * connections keep what they began with.
 *
 * A client always verifies the certificate and the host name of the server. It has a context of its
 * own, with the authorities of the process (struct tls_trust).
 *
 * Offered are ECDHE with AES-GCM or ChaCha20-Poly1305, and the curves X25519, P-256 and P-384: no
 * cipher without forward secrecy or authenticated encryption. Renegotiation is refused, and there
 * is no early data.
 *
 * Memory: an open connection takes TLS_CONN_BYTES, most of it two buffers of a record each, which
 * Debian's mbedTLS does not give back while a connection is idle.
 */
#pragma once

#define TLS_RECORD_MAX 16384      /* plain text of a record, RFC 8446 section 5.1 */
#define TLS_INPUT_MAX  65536      /* bytes received that a connection takes at once */
#define TLS_CONN_BYTES (40 << 10) /* of an open connection */
