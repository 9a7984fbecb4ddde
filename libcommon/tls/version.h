/** What differs in TLS between mbedTLS 2.28 (Debian 12: TLS 1.2) and 3.6 (Debian 13: TLS 1.3
 * besides). For the files of libcommon/tls/ only. */
#pragma once

#include "base/base.h"
#include "tls/settings.h"

#include <mbedtls/ssl.h>
#include <mbedtls/version.h>

#if MBEDTLS_VERSION_MAJOR >= 3

#include <psa/crypto.h>

#define TLS_HAS_1_3 true

/* TLS 1.3 computes by the PSA interface. From any thread, more than once. */
static inline void tls_library_start(void)
{
	require(psa_crypto_init() == PSA_SUCCESS);
}

/* A client is told of a ticket instead of getting bytes. */
static inline bool tls_wants_more(int code)
{
	return code == MBEDTLS_ERR_SSL_WANT_READ ||
	       code == MBEDTLS_ERR_SSL_RECEIVED_NEW_SESSION_TICKET;
}

static inline void tls_configure_version(mbedtls_ssl_config *conf, enum tls_version min)
{
	mbedtls_ssl_conf_min_tls_version(conf, min == TLS_1_3 ? MBEDTLS_SSL_VERSION_TLS1_3
	                                                      : MBEDTLS_SSL_VERSION_TLS1_2);
}

static inline void tls_configure_curves(mbedtls_ssl_config *conf)
{
	static const uint16_t GROUPS[] = {
		MBEDTLS_SSL_IANA_TLS_GROUP_X25519,
		MBEDTLS_SSL_IANA_TLS_GROUP_SECP256R1,
		MBEDTLS_SSL_IANA_TLS_GROUP_SECP384R1,
		MBEDTLS_SSL_IANA_TLS_GROUP_NONE,
	};
	mbedtls_ssl_conf_groups(conf, GROUPS);
}

/* Continuing a session makes a new key, too: what was recorded is not read with the key of its
 * ticket. */
static inline void tls_configure_key_exchange(mbedtls_ssl_config *conf)
{
	mbedtls_ssl_conf_tls13_key_exchange_modes(
		conf, MBEDTLS_SSL_TLS1_3_KEY_EXCHANGE_MODE_EPHEMERAL_ALL);
}

#define TLS_1_3_CIPHERS                                                       \
	MBEDTLS_TLS1_3_AES_128_GCM_SHA256, MBEDTLS_TLS1_3_AES_256_GCM_SHA384, \
		MBEDTLS_TLS1_3_CHACHA20_POLY1305_SHA256,

#else

#define TLS_HAS_1_3 false

static inline void tls_library_start(void)
{
}

static inline bool tls_wants_more(int code)
{
	return code == MBEDTLS_ERR_SSL_WANT_READ;
}

static inline void tls_configure_version(mbedtls_ssl_config *conf, enum tls_version min)
{
	(void)min;
	mbedtls_ssl_conf_min_version(conf, MBEDTLS_SSL_MAJOR_VERSION_3,
	                             MBEDTLS_SSL_MINOR_VERSION_3);
}

static inline void tls_configure_curves(mbedtls_ssl_config *conf)
{
	static const mbedtls_ecp_group_id CURVES[] = {
		MBEDTLS_ECP_DP_CURVE25519,
		MBEDTLS_ECP_DP_SECP256R1,
		MBEDTLS_ECP_DP_SECP384R1,
		MBEDTLS_ECP_DP_NONE,
	};
	mbedtls_ssl_conf_curves(conf, CURVES);
}

static inline void tls_configure_key_exchange(mbedtls_ssl_config *conf)
{
	(void)conf; /* of TLS 1.2 the ciphers say it */
}

#define TLS_1_3_CIPHERS

#endif
