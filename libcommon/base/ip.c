#include "base/ip.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#define ADDRESS_BITS 128
#define IPV4_BITS    32
#define IPV4_OFFSET  12 /* of the IPv4 address in an IPv4-mapped one */

static const char SEPARATORS[] = ", \t";
static const uint8_t MAPPED[IPV4_OFFSET] = {[10] = 0xff, [11] = 0xff};

struct network {
	struct ip ip;
	unsigned bits; /* length of the prefix */
};

struct ip_networks {
	struct network *networks;
	size_t count;
};

bool ip_is_v4(const struct ip *ip)
{
	return memcmp(ip->bytes, MAPPED, sizeof(MAPPED)) == 0;
}

static struct ip ip_from_v4(const void *bytes)
{
	struct ip ip;
	memcpy(ip.bytes, MAPPED, sizeof(MAPPED));
	memcpy(ip.bytes + IPV4_OFFSET, bytes, sizeof(ip.bytes) - IPV4_OFFSET);
	return ip;
}

bool ip_parse(const char *text, struct ip *ret_ip)
{
	uint8_t v4[4];
	if (inet_pton(AF_INET6, text, ret_ip->bytes) == 1)
		return true;
	if (inet_pton(AF_INET, text, v4) != 1)
		return false;
	*ret_ip = ip_from_v4(v4);
	return true;
}

bool ip_of_socket(const struct sockaddr *socket, struct ip *ret_ip)
{
	if (socket->sa_family == AF_INET)
		*ret_ip = ip_from_v4(&((const struct sockaddr_in *)socket)->sin_addr);
	else if (socket->sa_family == AF_INET6)
		memcpy(ret_ip->bytes, &((const struct sockaddr_in6 *)socket)->sin6_addr,
		       sizeof(ret_ip->bytes));
	else
		return false;
	return true;
}

const char *ip_text(struct arena *arena, const struct ip *ip)
{
	char *text = arena_alloc(arena, INET6_ADDRSTRLEN);
	bool is_v4 = ip_is_v4(ip);
	require(inet_ntop(is_v4 ? AF_INET : AF_INET6, ip->bytes + (is_v4 ? IPV4_OFFSET : 0), text,
	                  INET6_ADDRSTRLEN));
	return text;
}

static bool network_has(const struct network *network, const struct ip *ip)
{
	size_t whole = network->bits / 8;
	unsigned rest = network->bits % 8;
	if (memcmp(network->ip.bytes, ip->bytes, whole) != 0)
		return false;
	return rest == 0 || (network->ip.bytes[whole] ^ ip->bytes[whole]) >> (8 - rest) == 0;
}

#define V4(a, b, c, d, prefix)                                                                \
	{                                                                                     \
		{{[10] = 0xff, [11] = 0xff, [12] = (a), [13] = (b), [14] = (c), [15] = (d)}}, \
			ADDRESS_BITS - IPV4_BITS + (prefix)                                   \
	}
#define V6(prefix, ...)                 \
	{                               \
		{{__VA_ARGS__}}, prefix \
	}

/* Networks that are not part of the public Internet: the IANA special-purpose registries (RFC
 * 6890), and multicast. */
static const struct network NOT_PUBLIC[] = {
	V4(0, 0, 0, 0, 8),       /* "this network"; 0.0.0.0 connects to the own host */
	V4(10, 0, 0, 0, 8),      /* private */
	V4(100, 64, 0, 0, 10),   /* shared, RFC 6598 */
	V4(127, 0, 0, 0, 8),     /* loopback */
	V4(169, 254, 0, 0, 16),  /* link-local; metadata services of clouds */
	V4(172, 16, 0, 0, 12),   /* private */
	V4(192, 0, 0, 0, 24),    /* IETF protocol assignments */
	V4(192, 0, 2, 0, 24),    /* documentation */
	V4(192, 168, 0, 0, 16),  /* private */
	V4(198, 18, 0, 0, 15),   /* benchmarks */
	V4(198, 51, 100, 0, 24), /* documentation */
	V4(203, 0, 113, 0, 24),  /* documentation */
	V4(224, 0, 0, 0, 4),     /* multicast */
	V4(240, 0, 0, 0, 4),     /* reserved, and the broadcast address */
	V6(96, 0),               /* ::, ::1, and IPv4-compatible addresses */
	V6(48, 0x00, 0x64, 0xff, 0x9b, 0x00, 0x01), /* local NAT64, RFC 8215 */
	V6(64, 0x01, 0x00),                         /* discard */
	V6(23, 0x20, 0x01, 0x00),                   /* IETF protocol assignments, Teredo */
	V6(32, 0x20, 0x01, 0x0d, 0xb8),             /* documentation */
	V6(16, 0x20, 0x02),                         /* 6to4 */
	V6(7, 0xfc),                                /* unique local */
	V6(10, 0xfe, 0x80),                         /* link-local */
	V6(10, 0xfe, 0xc0),                         /* site-local, deprecated */
	V6(8, 0xff),                                /* multicast */
};

/* Addresses through which a translator reaches an IPv4 address, their last four bytes (RFC
 * 6052). */
static const struct network NAT64 = V6(96, 0x00, 0x64, 0xff, 0x9b);

bool ip_is_public(const struct ip *ip)
{
	struct ip embedded = *ip;
	if (network_has(&NAT64, ip))
		embedded = ip_from_v4(ip->bytes + IPV4_OFFSET);
	for (size_t i = 0; i < ARRAY_LEN(NOT_PUBLIC); i++)
		if (network_has(&NOT_PUBLIC[i], &embedded))
			return false;
	return true;
}

/* `address` or `address/bits`. */
static bool network_parse(char *text, struct network *network)
{
	char *slash = strchr(text, '/');
	if (slash)
		*slash = '\0';
	if (!ip_parse(text, &network->ip))
		return false;
	network->bits = ADDRESS_BITS;
	if (!slash)
		return true;
	const char *digits = slash + 1;
	size_t length = strlen(digits);
	if (length == 0 || length > 3 || strspn(digits, "0123456789") != length)
		return false;
	unsigned bits = 0, most = strchr(text, ':') ? ADDRESS_BITS : IPV4_BITS;
	for (; *digits; digits++)
		bits = 10 * bits + (unsigned)(*digits - '0');
	network->bits = ADDRESS_BITS - most + bits;
	return bits <= most;
}

enum err_code ip_networks_parse(struct arena *arena, const char *text, const char *word,
                                bool *ret_has_word, const struct ip_networks **ret_networks)
{
	struct ip_networks *set = arena_new_of(arena, struct ip_networks);
	set->networks = arena_array(arena, strlen(text) / 2 + 1, sizeof(*set->networks));
	char *rest = arena_strdup(arena, text);
	bool has_word = false;
	for (char *part; (part = strsep(&rest, SEPARATORS));) {
		if (!*part)
			continue;
		if (word && strcmp(part, word) == 0)
			has_word = true;
		else if (!network_parse(part, &set->networks[set->count++]))
			return ERR_INVALID;
	}
	if (ret_has_word)
		*ret_has_word = has_word;
	*ret_networks = set;
	return ERR_NONE;
}

bool ip_networks_have(const struct ip_networks *networks, const struct ip *ip)
{
	for (size_t i = 0; i < networks->count; i++)
		if (network_has(&networks->networks[i], ip))
			return true;
	return false;
}

bool ip_networks_empty(const struct ip_networks *networks)
{
	return networks->count == 0;
}
