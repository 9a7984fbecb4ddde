#include "tls/context.h"

#include "base/timefmt.h"
#include "crypto/mbedtls.h"
#include "tls/version.h"

#include <stdlib.h>
#include <string.h>

#define SESSION_MAX 2048 /* of a serialized session; without a client's certificate it is smaller */

static const char *PROTOCOLS[] = {"http/1.1", NULL}; /* RFC 7301; mbedTLS wants no const */

static const int CIPHERS[] = {
	TLS_1_3_CIPHERS MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
	MBEDTLS_TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
	MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
	MBEDTLS_TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
	MBEDTLS_TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
	MBEDTLS_TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
	0,
};

/* --- Callbacks of mbedTLS --------------------------------------------------------------------- */

static int write_ticket(void *user, const mbedtls_ssl_session *session, unsigned char *start,
                        const unsigned char *end, size_t *ret_length, uint32_t *ret_lifetime_s)
{
	struct tls_context *context = user;
	unsigned char text[SESSION_MAX];
	size_t length, room = (size_t)(end - start);
	int failure = mbedtls_ssl_session_save(session, text, sizeof(text), &length);
	if (failure == 0 && length + TICKET_OVERHEAD > room)
		failure = MBEDTLS_ERR_SSL_BUFFER_TOO_SMALL;
	if (failure == 0) {
		ticket_seal(&context->tickets, time_monotonic_ms(), text, length, start);
		*ret_length = length + TICKET_OVERHEAD;
		*ret_lifetime_s = (uint32_t)(TICKET_PERIOD_MS / 1000);
	}
	explicit_bzero(text, sizeof(text));
	return failure;
}

static int take_ticket(void *user, mbedtls_ssl_session *session, unsigned char *ticket,
                       size_t length)
{
	struct tls_context *context = user;
	unsigned char text[SESSION_MAX];
	if (length < TICKET_OVERHEAD || length - TICKET_OVERHEAD > sizeof(text) ||
	    ticket_open(&context->tickets, time_monotonic_ms(), ticket, length, text))
		return MBEDTLS_ERR_SSL_INVALID_MAC;
	int failure = mbedtls_ssl_session_load(session, text, length - TICKET_OVERHEAD);
	explicit_bzero(text, sizeof(text));
	context->is_resumed = failure == 0;
	return failure;
}

/* Offer the certificates for the client's server name; without one of that name, the default. */
static int choose_pair(void *user, mbedtls_ssl_context *ssl, const unsigned char *name,
                       size_t length)
{
	struct tls_config *config = user;
	int failure = 0;
	for (size_t i = 0; i < config->count && failure == 0; i++) {
		struct tls_pair *pair = config->pairs[i];
		if (tls_pair_has_name(pair, (const char *)name, length))
			failure = mbedtls_ssl_set_hs_own_cert(ssl, &pair->chain, &pair->key);
	}
	return failure;
}

/* --- Configuration ---------------------------------------------------------------------------- */

/* What servers and clients have in common; `end`: MBEDTLS_SSL_IS_SERVER or _CLIENT. */
static void configure(mbedtls_ssl_config *ssl, int end, enum tls_version min)
{
	mbedtls_ssl_config_init(ssl);
	require(mbedtls_ssl_config_defaults(ssl, end, MBEDTLS_SSL_TRANSPORT_STREAM,
	                                    MBEDTLS_SSL_PRESET_DEFAULT) == 0);
	mbedtls_ssl_conf_rng(ssl, crypto_random, NULL);
	mbedtls_ssl_conf_ciphersuites(ssl, CIPHERS);
	tls_configure_version(ssl, min);
	tls_configure_curves(ssl);
	tls_configure_key_exchange(ssl);
	mbedtls_ssl_conf_renegotiation(ssl, MBEDTLS_SSL_RENEGOTIATION_DISABLED);
}

static void configure_server(struct tls_config *config, struct tls_context *context)
{
	mbedtls_ssl_config *ssl = &config->ssl;
	configure(ssl, MBEDTLS_SSL_IS_SERVER, tls_store_version(context->store));
	mbedtls_ssl_conf_authmode(ssl, MBEDTLS_SSL_VERIFY_NONE);
	require(mbedtls_ssl_conf_alpn_protocols(ssl, PROTOCOLS) == 0);
	mbedtls_ssl_conf_session_tickets_cb(ssl, write_ticket, take_ticket, context);
	mbedtls_ssl_conf_sni(ssl, choose_pair, config);
	require(mbedtls_ssl_conf_own_cert(ssl, &config->pairs[0]->chain, &config->pairs[0]->key) ==
	        0);
}

static struct tls_config *config_new(struct tls_context *context)
{
	struct tls_config *config = calloc(1, sizeof(*config));
	require(config);
	config->references = 1;
	config->generation = tls_store_generation(context->store);
	config->count = tls_store_copy(context->store, config->pairs);
	configure_server(config, context);
	return config;
}

/* The certificate that the client shows when it is asked for one. A copy of its own: signing
 * changes a key, and other workers sign with it, too. */
static void add_own_pair(struct tls_config *config)
{
	const struct tls_pem *own = &config->authorities->own;
	if (!own->certificate)
		return;
	struct arena *arena = arena_new();
	const char *reason;
	require(!tls_pair_new(own, arena, &config->pairs[0], &reason));
	arena_free(arena);
	config->count = 1;
	require(mbedtls_ssl_conf_own_cert(&config->ssl, &config->pairs[0]->chain,
	                                  &config->pairs[0]->key) == 0);
}

static struct tls_config *client_config_new(struct tls_trust *trust)
{
	struct tls_config *config = calloc(1, sizeof(*config));
	require(config);
	config->references = 1;
	config->authorities = tls_trust_take(trust);
	configure(&config->ssl, MBEDTLS_SSL_IS_CLIENT, TLS_1_2);
	mbedtls_ssl_conf_authmode(&config->ssl, MBEDTLS_SSL_VERIFY_REQUIRED);
	mbedtls_ssl_conf_ca_chain(&config->ssl, &config->authorities->chain, NULL);
	add_own_pair(config);
	return config;
}

void tls_config_release(struct tls_config *config)
{
	if (--config->references > 0)
		return;
	mbedtls_ssl_config_free(&config->ssl);
	for (size_t i = 0; i < config->count; i++)
		tls_pair_free(config->pairs[i]);
	if (config->authorities)
		tls_authorities_release(config->authorities);
	free(config);
}

struct tls_config *tls_config_take(struct tls_context *context)
{
	if (context->trust)
		return client_config_new(context->trust);
	if (context->config->generation != tls_store_generation(context->store)) {
		tls_config_release(context->config);
		context->config = config_new(context);
	}
	context->config->references++;
	return context->config;
}

struct tls_context *tls_context_new(struct tls_store *store)
{
	struct tls_context *context = calloc(1, sizeof(*context));
	require(context);
	context->store = store;
	ticket_keys_init(&context->tickets, tls_store_seed(store));
	context->config = config_new(context);
	return context;
}

struct tls_context *tls_context_new_client(struct tls_trust *trust)
{
	struct tls_context *context = calloc(1, sizeof(*context));
	require(context);
	context->trust = trust;
	return context;
}

void tls_context_free(struct tls_context *context)
{
	if (!context)
		return;
	if (context->config)
		tls_config_release(context->config);
	ticket_keys_wipe(&context->tickets);
	explicit_bzero(context->text, sizeof(context->text));
	free(context);
}
