#include "tls/conn.h"

#include "base/base.h"
#include "tls/context.h"
#include "tls/version.h"

#include <mbedtls/error.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HELLO_BYTE     0x16 /* ContentType handshake (RFC 8446 section 5.1) */
#define SAN_IP_ADDRESS 7    /* iPAddress of a GeneralName (RFC 5280 section 4.2.1.6) */

/* Records that may be answered here once the connection is open, such as a refused renegotiation: a
 * peer that asks for more has no other purpose. */
#define ANSWERS_MAX 8

/* A client's server by its address. */
struct ip_host {
	uint8_t bytes[sizeof(struct in6_addr)];
	size_t length; /* 0: the host is a name */
};

struct tls_conn {
	mbedtls_ssl_context ssl;
	struct tls_context *context;
	struct tls_config *config;
	tls_send_fn *send;
	void *owner;
	const unsigned char *in; /* received and not yet taken by mbedTLS */
	size_t in_length;
	enum tls_state state;
	unsigned answers;
	bool is_receiving;
	bool is_resumed;
	bool is_ended; /* close_notify was sent */
	/* Of a client: */
	struct ip_host ip;
	uint32_t refusal; /* of the server's certificates: MBEDTLS_X509_BADCERT_… */
	char fault[160];
};

static void send_out(struct tls_conn *conn)
{
	struct tls_context *context = conn->context;
	if (context->out_length > 0)
		conn->send(conn->owner, context->out, context->out_length);
	context->out_length = 0;
}

/* mbedTLS sends a record. All is taken: what the socket does not take waits with its owner. */
static int on_send(void *user, const unsigned char *data, size_t length)
{
	struct tls_conn *conn = user;
	struct tls_context *context = conn->context;
	if (conn->is_receiving && conn->state == TLS_OPEN)
		conn->answers++;
	if (length > sizeof(context->out) - context->out_length)
		send_out(conn);
	size_t taken = MIN_OF(length, sizeof(context->out));
	memcpy(context->out + context->out_length, data, taken);
	context->out_length += taken;
	return (int)taken;
}

static int on_receive(void *user, unsigned char *out, size_t size)
{
	struct tls_conn *conn = user;
	size_t taken = MIN_OF(size, conn->in_length);
	if (taken == 0)
		return MBEDTLS_ERR_SSL_WANT_READ;
	memcpy(out, conn->in, taken);
	conn->in += taken;
	conn->in_length -= taken;
	return (int)taken;
}

/* Why the server's certificate is refused; the first that holds, since a certificate that no
 * trusted authority has signed may say anything. */
static const struct {
	uint32_t flag;
	const char *reason;
} REFUSALS[] = {
	{MBEDTLS_X509_BADCERT_NOT_TRUSTED, "no trusted authority has signed the certificate"},
	{MBEDTLS_X509_BADCERT_EXPIRED, "the certificate has expired"},
	{MBEDTLS_X509_BADCERT_FUTURE, "the certificate is not valid yet"},
	{MBEDTLS_X509_BADCERT_CN_MISMATCH, "the certificate is for another host"},
	{UINT32_MAX, "the certificate has a key or a purpose that is not accepted"},
};

/* mbedTLS does not tell which alert it was. */
static const char REFUSED_BY_SERVER[] = "the server refuses the connection: it may want a "
					"certificate of the client, or another one";

static void describe_refusal(struct tls_conn *conn)
{
	size_t row = 0;
	while (!(REFUSALS[row].flag & conn->refusal))
		row++;
	snprintf(conn->fault, sizeof(conn->fault), "%s", REFUSALS[row].reason);
}

static void fail(struct tls_conn *conn, int code)
{
	conn->state = TLS_FAILED;
	if (code == MBEDTLS_ERR_X509_CERT_VERIFY_FAILED && conn->refusal)
		describe_refusal(conn);
	else if (code == MBEDTLS_ERR_SSL_FATAL_ALERT_MESSAGE && conn->context->trust)
		snprintf(conn->fault, sizeof(conn->fault), "%s", REFUSED_BY_SERVER);
	else
		mbedtls_strerror(code, conn->fault, sizeof(conn->fault));
}

struct tls_conn *tls_conn_new(struct tls_context *context, tls_send_fn *send, void *owner)
{
	struct tls_conn *conn = calloc(1, sizeof(*conn));
	require(conn);
	conn->context = context;
	conn->config = tls_config_take(context);
	conn->send = send;
	conn->owner = owner;
	mbedtls_ssl_init(&conn->ssl);
	require(mbedtls_ssl_setup(&conn->ssl, &conn->config->ssl) == 0);
	mbedtls_ssl_set_bio(&conn->ssl, conn, on_send, on_receive, NULL);
	return conn;
}

/* Whether the certificate is for the address (RFC 5280 section 4.2.1.6). Not every version of
 * mbedTLS looks for it. */
static bool has_address(const mbedtls_x509_crt *certificate, const struct ip_host *ip)
{
	const mbedtls_x509_sequence *at = &certificate->subject_alt_names;
	for (; at; at = at->next) {
		bool is_ip = (at->buf.tag & MBEDTLS_ASN1_TAG_VALUE_MASK) == SAN_IP_ADDRESS;
		if (is_ip && at->buf.len == ip->length &&
		    memcmp(at->buf.p, ip->bytes, ip->length) == 0)
			return true;
	}
	return false;
}

/* mbedTLS has checked a certificate of the server's chain; `depth` 0 is the server's own. */
static int on_certificate(void *user, mbedtls_x509_crt *certificate, int depth, uint32_t *flags)
{
	struct tls_conn *conn = user;
	if (depth == 0 && conn->ip.length > 0 && !has_address(certificate, &conn->ip))
		*flags |= MBEDTLS_X509_BADCERT_CN_MISMATCH;
	conn->refusal |= *flags;
	return 0;
}

static void ip_host_parse(const char *host, struct ip_host *ret_ip)
{
	if (inet_pton(AF_INET, host, ret_ip->bytes) == 1)
		ret_ip->length = sizeof(struct in_addr);
	else if (inet_pton(AF_INET6, host, ret_ip->bytes) == 1)
		ret_ip->length = sizeof(struct in6_addr);
}

struct tls_conn *tls_conn_connect(struct tls_context *context, const char *host, tls_send_fn *send,
                                  void *owner)
{
	const char *text;
	size_t length;
	struct tls_conn *conn = tls_conn_new(context, send, owner);
	ip_host_parse(host, &conn->ip);
	require(mbedtls_ssl_set_hostname(&conn->ssl, conn->ip.length > 0 ? NULL : host) == 0);
	mbedtls_ssl_set_verify(&conn->ssl, on_certificate, conn);
	(void)tls_conn_receive(conn, "", 0, &text, &length);
	return conn;
}

void tls_conn_free(struct tls_conn *conn)
{
	if (!conn)
		return;
	mbedtls_ssl_free(&conn->ssl);
	tls_config_release(conn->config);
	free(conn);
}

bool tls_conn_is_hello(char first)
{
	return first == HELLO_BYTE;
}

/* Whether all input is used up when mbedTLS wants more: it also says so after a message that it has
 * handled by itself, and then some of the input may be left. `before`: how much there was before
 * the call. What makes no progress is given up. */
static bool wants_no_more(struct tls_conn *conn, size_t before)
{
	if (conn->in_length > 0 && conn->in_length == before)
		fail(conn, MBEDTLS_ERR_SSL_UNEXPECTED_MESSAGE);
	return conn->in_length == 0;
}

static void shake_hands(struct tls_conn *conn)
{
	conn->context->is_resumed = false;
	while (conn->state == TLS_HANDSHAKE) {
		size_t before = conn->in_length;
		int code = mbedtls_ssl_handshake(&conn->ssl);
		if (code == 0)
			conn->state = TLS_OPEN;
		else if (!tls_wants_more(code))
			fail(conn, code);
		else if (wants_no_more(conn, before))
			break;
	}
	conn->is_resumed |= conn->context->is_resumed;
}

/* Decrypt all that was received. Returns its length. */
static size_t decrypt(struct tls_conn *conn)
{
	struct tls_context *context = conn->context;
	size_t length = 0;
	while (conn->state == TLS_OPEN) {
		size_t before = conn->in_length;
		require(length < sizeof(context->text));
		int got = mbedtls_ssl_read(&conn->ssl, (unsigned char *)context->text + length,
		                           sizeof(context->text) - length);
		if (got > 0)
			length += (size_t)got;
		else if (got == MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY)
			conn->state = TLS_ENDED;
		else if (got != 0 && !tls_wants_more(got))
			fail(conn, got);
		else if (wants_no_more(conn, before))
			break;
		if (conn->answers > ANSWERS_MAX)
			fail(conn, MBEDTLS_ERR_SSL_UNEXPECTED_MESSAGE);
	}
	return length;
}

enum tls_state tls_conn_receive(struct tls_conn *conn, const void *data, size_t length,
                                const char **ret_text, size_t *ret_length)
{
	require(length <= TLS_INPUT_MAX);
	conn->in = data;
	conn->in_length = length;
	conn->is_receiving = true;
	if (conn->state == TLS_HANDSHAKE)
		shake_hands(conn);
	*ret_text = conn->context->text;
	*ret_length = decrypt(conn);
	conn->is_receiving = false;
	conn->in = NULL;
	conn->in_length = 0;
	send_out(conn);
	return conn->state;
}

static void encrypt(struct tls_conn *conn, const char *data, size_t length)
{
	while (length > 0 && conn->state != TLS_FAILED) {
		int taken = mbedtls_ssl_write(&conn->ssl, (const unsigned char *)data, length);
		if (taken <= 0) {
			fail(conn, taken);
			return;
		}
		data += taken;
		length -= (size_t)taken;
	}
}

static void encrypt_gathered(struct tls_conn *conn)
{
	struct tls_context *context = conn->context;
	encrypt(conn, context->record, context->record_length);
	context->record_length = 0;
}

void tls_conn_write(struct tls_conn *conn, const void *data, size_t length)
{
	struct tls_context *context = conn->context;
	const char *at = data;
	while (length > 0) {
		size_t taken = MIN_OF(length, TLS_RECORD_MAX - context->record_length);
		if (taken == TLS_RECORD_MAX) {
			encrypt(conn, at, taken);
		} else {
			memcpy(context->record + context->record_length, at, taken);
			context->record_length += taken;
		}
		if (context->record_length == TLS_RECORD_MAX)
			encrypt_gathered(conn);
		at += taken;
		length -= taken;
	}
}

bool tls_conn_flush(struct tls_conn *conn)
{
	encrypt_gathered(conn);
	send_out(conn);
	return conn->state != TLS_FAILED;
}

void tls_conn_end(struct tls_conn *conn)
{
	if (conn->is_ended || (conn->state != TLS_OPEN && conn->state != TLS_ENDED))
		return;
	conn->is_ended = true;
	(void)mbedtls_ssl_close_notify(&conn->ssl);
	send_out(conn);
}

bool tls_conn_is_resumed(const struct tls_conn *conn)
{
	return conn->is_resumed;
}

const char *tls_conn_fault(const struct tls_conn *conn)
{
	return conn->fault;
}

bool tls_conn_is_refused(const struct tls_conn *conn)
{
	return conn->refusal != 0;
}
