#include "balancer/proxy_protocol.h"

#include "base/base.h"

#include <arpa/inet.h>
#include <string.h>

/* --- Version 1 -------------------------------------------------------------------------------- */

#define LINE_MAX_BYTES 107 /* with CRLF, section 2.1 */

static const char PREFIX[] = "PROXY ";

/* Take the next word, which a space or the end of the line follows, into `out`. */
static bool take_word(const char **at, char *out, size_t size)
{
	size_t length = strcspn(*at, " ");
	if (length == 0 || length >= size)
		return false;
	memcpy(out, *at, length);
	out[length] = '\0';
	*at += length;
	if (**at == ' ')
		(*at)++;
	return true;
}

static bool is_port(const char *text)
{
	size_t length = strlen(text);
	if (length == 0 || length > 5 || strspn(text, "0123456789") != length)
		return false;
	unsigned port = 0;
	for (const char *digit = text; *digit; digit++)
		port = 10 * port + (unsigned)(*digit - '0');
	return port <= 65535 && (length == 1 || text[0] != '0');
}

/* The line has no CRLF; its words are separated by one space each. */
static bool line_parse(const char *line, struct proxy_header *header)
{
	char family[8], source[INET6_ADDRSTRLEN], other[INET6_ADDRSTRLEN], ports[2][8];
	unsigned char address[sizeof(struct in6_addr)];
	const char *at = line + strlen(PREFIX);
	if (!take_word(&at, family, sizeof(family)))
		return false;
	if (strcmp(family, "UNKNOWN") == 0) {
		memcpy(header->client, PROXY_CLIENT_UNKNOWN, sizeof(PROXY_CLIENT_UNKNOWN));
		return true;
	}
	bool is_v4 = strcmp(family, "TCP4") == 0;
	if (!is_v4 && strcmp(family, "TCP6") != 0)
		return false;
	int kind = is_v4 ? AF_INET : AF_INET6;
	if (!take_word(&at, source, sizeof(source)) || inet_pton(kind, source, address) != 1)
		return false;
	bool is_valid = take_word(&at, other, sizeof(other)) &&
	                take_word(&at, ports[0], sizeof(ports[0])) &&
	                take_word(&at, ports[1], sizeof(ports[1])) && *at == '\0' && at[-1] != ' ';
	if (!is_valid || inet_pton(kind, other, address) != 1 || !is_port(ports[0]) ||
	    !is_port(ports[1]))
		return false;
	memcpy(header->client, source, sizeof(header->client));
	return true;
}

static enum proxy_header_state parse_v1(const char *data, size_t length,
                                        struct proxy_header *ret_header)
{
	char line[LINE_MAX_BYTES + 1];
	const char *end = memchr(data, '\n', MIN_OF(length, LINE_MAX_BYTES));
	if (!end)
		return length < LINE_MAX_BYTES ? PROXY_HEADER_PARTIAL : PROXY_HEADER_INVALID;
	size_t line_length = (size_t)(end - data);
	if (end[-1] != '\r' || memchr(data, '\0', line_length))
		return PROXY_HEADER_INVALID;
	memcpy(line, data, line_length - 1);
	line[line_length - 1] = '\0';
	*ret_header = (struct proxy_header){.length = line_length + 1};
	return line_parse(line, ret_header) ? PROXY_HEADER_COMPLETE : PROXY_HEADER_INVALID;
}

/* --- Version 2 -------------------------------------------------------------------------------- */

#define START_BYTES 16 /* before the addresses */

static const char SIGNATURE[] = "\r\n\r\n\0\r\nQUIT\n";
#define SIGNATURE_LEN (sizeof(SIGNATURE) - 1)

enum command { COMMAND_LOCAL = 0x20, COMMAND_PROXY = 0x21 };

/* What follows the addresses, section 2.2.1: TLVs, each a type, a length of two bytes, and a value.
 * The value of PP2_TYPE_SSL begins with flags and the result of verifying the client. */
#define TLV_START_BYTES 3
#define PP2_TYPE_SSL    0x20
#define PP2_CLIENT_SSL  0x01 /* a flag: the client speaks TLS */
#define SSL_MIN_BYTES   5

/* What may follow COMMAND_PROXY, section 2.2: transport protocol and address family in a byte, the
 * bytes of the addresses, and the family of the first; 0: it is not one of the Internet. */
static const struct {
	unsigned char code;
	unsigned char address_bytes;
	int family;
} FAMILIES[] = {
	{0x00, 0, 0},
	{0x11, 12, AF_INET},
	{0x21, 36, AF_INET6},
	{0x31, 216, 0},
};

/* The text of an address; one of IPv4 in IPv6 is written as IPv4. */
static void client_format(int family, const unsigned char *address, char *out)
{
	struct in6_addr v6;
	if (family == AF_INET6) {
		memcpy(&v6, address, sizeof(v6));
		if (IN6_IS_ADDR_V4MAPPED(&v6)) {
			family = AF_INET;
			address += sizeof(v6) - sizeof(struct in_addr);
		}
	}
	inet_ntop(family, address, out, INET6_ADDRSTRLEN);
}

/* False: one is cut off. */
static bool tlvs_parse(const unsigned char *at, const unsigned char *end,
                       struct proxy_header *header)
{
	while (at < end) {
		if (end - at < TLV_START_BYTES)
			return false;
		bool is_ssl = at[0] == PP2_TYPE_SSL;
		ptrdiff_t length = at[1] << 8 | at[2];
		at += TLV_START_BYTES;
		if (end - at < length || (is_ssl && length < SSL_MIN_BYTES))
			return false;
		if (is_ssl)
			header->is_by_tls = at[0] & PP2_CLIENT_SSL;
		at += length;
	}
	return true;
}

/* What follows the start of COMMAND_PROXY. Where the client is unknown, so is what else the header
 * has. */
static bool client_parse(unsigned char code, const unsigned char *data, size_t length,
                         struct proxy_header *header)
{
	size_t i = 0;
	while (i < ARRAY_LEN(FAMILIES) && FAMILIES[i].code != code)
		i++;
	if (i == ARRAY_LEN(FAMILIES) || length < FAMILIES[i].address_bytes)
		return false;
	if (!FAMILIES[i].family) {
		memcpy(header->client, PROXY_CLIENT_UNKNOWN, sizeof(PROXY_CLIENT_UNKNOWN));
		return true;
	}
	client_format(FAMILIES[i].family, data, header->client);
	return tlvs_parse(data + FAMILIES[i].address_bytes, data + length, header);
}

static enum proxy_header_state parse_v2(const char *data, size_t length,
                                        struct proxy_header *ret_header)
{
	const unsigned char *bytes = (const unsigned char *)data;
	if (length < START_BYTES)
		return PROXY_HEADER_PARTIAL;
	unsigned char command = bytes[SIGNATURE_LEN], family = bytes[SIGNATURE_LEN + 1];
	size_t rest = (size_t)bytes[SIGNATURE_LEN + 2] << 8 | bytes[SIGNATURE_LEN + 3];
	if ((command != COMMAND_LOCAL && command != COMMAND_PROXY) ||
	    START_BYTES + rest > PROXY_HEADER_MAX)
		return PROXY_HEADER_INVALID;
	if (length < START_BYTES + rest)
		return PROXY_HEADER_PARTIAL;
	*ret_header = (struct proxy_header){.length = START_BYTES + rest};
	bool is_valid = command == COMMAND_LOCAL ||
	                client_parse(family, bytes + START_BYTES, rest, ret_header);
	return is_valid ? PROXY_HEADER_COMPLETE : PROXY_HEADER_INVALID;
}

/* Whether as many bytes of the data as there are equal those of the start of a version. */
static bool begins_with(const char *data, size_t length, const char *start, size_t start_length)
{
	return memcmp(data, start, MIN_OF(length, start_length)) == 0;
}

enum proxy_header_state proxy_header_parse(const char *data, size_t length,
                                           struct proxy_header *ret_header)
{
	if (begins_with(data, length, PREFIX, sizeof(PREFIX) - 1))
		return parse_v1(data, length, ret_header);
	if (begins_with(data, length, SIGNATURE, SIGNATURE_LEN))
		return parse_v2(data, length, ret_header);
	return PROXY_HEADER_INVALID;
}
