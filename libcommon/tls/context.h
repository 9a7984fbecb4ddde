/** What a worker has for its TLS connections: the configuration, the ticket keys, and buffers that
 * the connections use in turn. That of a server has its own copies of the certificates. Of one
 * thread. */
#pragma once

#include "tls/store.h"
#include "tls/tls.h"
#include "tls/trust.h"

#include <mbedtls/ssl.h>

/** A configuration. A server's ends with its last connection once the context has a newer one, a
 * client's with its connection. */
struct tls_config {
	mbedtls_ssl_config ssl;
	unsigned references;
	struct tls_authorities *authorities; /* of a client */
	uint64_t generation;                 /* of a server's store */
	size_t count;
	struct tls_pair *pairs[TLS_PAIRS_MAX]; /* what it shows; a client at most one */
};

struct tls_context {
	struct tls_trust *trust;   /* of clients; NULL: of a server */
	struct tls_store *store;   /* of a server */
	struct tls_config *config; /* of its next connection */
	struct ticket_keys tickets;
	bool is_resumed; /* since a connection set it to false: a ticket was taken */
	/* Decrypted: all of an input, and what a record before it lacked. */
	char text[TLS_INPUT_MAX + TLS_RECORD_MAX];
	char record[TLS_RECORD_MAX];     /* gathers what is written */
	uint8_t out[4 * TLS_RECORD_MAX]; /* encrypted, and not yet sent */
	size_t record_length, out_length;
};

/** Of a server; borrows the store. */
struct tls_context *tls_context_new(struct tls_store *store);

/** Of clients; borrows the trust. */
struct tls_context *tls_context_new_client(struct tls_trust *trust);

/** After the last connection. NULL is fine. */
void tls_context_free(struct tls_context *context);

/** The configuration with the present certificates or authorities. The caller releases it. */
struct tls_config *tls_config_take(struct tls_context *context);
void tls_config_release(struct tls_config *config);
