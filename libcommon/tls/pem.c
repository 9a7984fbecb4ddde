#include "tls/pem.h"

#include "crypto/mbedtls.h"
#include "tls/file.h"

#include <mbedtls/asn1.h>
#include <mbedtls/ecdsa.h>

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>

#define OTHERS (S_IROTH | S_IWOTH)

enum err_code tls_pem_read(struct tls_pem *pem, struct arena *arena, const char **ret_reason)
{
	enum err_code code = tls_file_read(pem->certificate_setting, pem->certificate_file, 0,
	                                   arena, &pem->certificate, ret_reason);
	if (!code)
		code = tls_file_read(pem->key_setting, pem->key_file, OTHERS, arena, &pem->key,
		                     ret_reason);
	return code;
}

void tls_pem_free(struct tls_pem *pem)
{
	tls_file_free(&pem->certificate);
	tls_file_free(&pem->key);
}

/* Why the pair cannot be used; NULL: it can. */
static const char *pair_parse(struct tls_pair *pair, const struct tls_pem *pem, struct arena *arena)
{
	/* The NUL counts (x509_crt.h, pk.h). */
	if (mbedtls_x509_crt_parse(&pair->chain, (const unsigned char *)pem->certificate,
	                           strlen(pem->certificate) + 1) != 0)
		return arena_printf(arena, "%s: %s is not a chain of certificates in PEM",
		                    pem->certificate_setting, pem->certificate_file);
	if (crypto_pk_parse(&pair->key, (const unsigned char *)pem->key, strlen(pem->key) + 1) != 0)
		return arena_printf(arena, "%s: %s is not a private key in PEM without a password",
		                    pem->key_setting, pem->key_file);
	if (crypto_pk_check_pair(&pair->chain.pk, &pair->key) != 0)
		return arena_printf(arena, "%s: %s is not the key of the certificate %s",
		                    pem->key_setting, pem->key_file, pem->certificate_file);
	return NULL;
}

/* Make an EC key one of the type ECDSA, whose table of the curve's generator is kept. A key as it
 * was parsed (ECKEY) is copied for each signature without that table, which then takes half of the
 * time (pk_wrap.c of mbedTLS). */
static void keep_generator_table(mbedtls_pk_context *key)
{
	if (mbedtls_pk_get_type(key) != MBEDTLS_PK_ECKEY)
		return;
	mbedtls_pk_context kept;
	mbedtls_pk_init(&kept);
	require(mbedtls_pk_setup(&kept, mbedtls_pk_info_from_type(MBEDTLS_PK_ECDSA)) == 0);
	require(mbedtls_ecdsa_from_keypair(mbedtls_pk_ec(kept), mbedtls_pk_ec(*key)) == 0);
	mbedtls_pk_free(key);
	*key = kept;
}

enum err_code tls_pair_new(const struct tls_pem *pem, struct arena *arena,
                           struct tls_pair **ret_pair, const char **ret_reason)
{
	struct tls_pair *pair = calloc(1, sizeof(*pair));
	require(pair);
	mbedtls_x509_crt_init(&pair->chain);
	mbedtls_pk_init(&pair->key);
	const char *reason = pair_parse(pair, pem, arena);
	if (reason) {
		*ret_reason = reason;
		tls_pair_free(pair);
		return ERR_INVALID;
	}
	keep_generator_table(&pair->key);
	*ret_pair = pair;
	return ERR_NONE;
}

void tls_pair_free(struct tls_pair *pair)
{
	if (!pair)
		return;
	mbedtls_x509_crt_free(&pair->chain);
	mbedtls_pk_free(&pair->key);
	free(pair);
}

/* Whether `name` matches the DNS name `pattern` of a certificate. */
static bool name_matches(const char *pattern, size_t pattern_length, const char *name,
                         size_t length)
{
	if (pattern_length > 2 && pattern[0] == '*' && pattern[1] == '.') {
		const char *dot = memchr(name, '.', length);
		if (!dot || dot == name)
			return false;
		length -= (size_t)(dot - name);
		name = dot;
		pattern++;
		pattern_length--;
	}
	return pattern_length == length && strncasecmp(pattern, name, length) == 0;
}

bool tls_pair_has_name(const struct tls_pair *pair, const char *name, size_t length)
{
	const mbedtls_x509_sequence *at = &pair->chain.subject_alt_names;
	for (; at; at = at->next) {
		bool is_dns =
			(at->buf.tag & MBEDTLS_ASN1_TAG_VALUE_MASK) == MBEDTLS_X509_SAN_DNS_NAME;
		if (is_dns && name_matches((const char *)at->buf.p, at->buf.len, name, length))
			return true;
	}
	return false;
}

int64_t tls_pair_expires_s(const struct tls_pair *pair)
{
	const mbedtls_x509_time *at = &pair->chain.valid_to;
	struct tm parts = {
		.tm_year = at->year - 1900,
		.tm_mon = at->mon - 1,
		.tm_mday = at->day,
		.tm_hour = at->hour,
		.tm_min = at->min,
		.tm_sec = at->sec,
	};
	return (int64_t)timegm(&parts);
}
