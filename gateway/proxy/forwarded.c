#include "proxy/forwarded.h"

#include "base/base.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define ADDRESS_TEXT_MAX 64 /* a longer text is not an address */
#define ADDRESS_BITS     128
#define IPV4_BITS        32

static const char SEPARATORS[] = ", \t";

/* An IPv6 address. IPv4 is stored IPv4-mapped (RFC 4291 section 2.5.5.2), so that each address has
 * one form. */
struct ip {
	uint8_t bytes[16];
};

struct network {
	struct ip ip;
	unsigned bits; /* length of the prefix */
};

struct trusted {
	struct network *networks;
	size_t count;
	bool has_unix;
};

/* --- Addresses -------------------------------------------------------------------------------- */

static bool ip_parse(const char *text, struct ip *ip, bool *ret_is_v4)
{
	static const uint8_t MAPPED[12] = {[10] = 0xff, [11] = 0xff};
	*ret_is_v4 = inet_pton(AF_INET, text, ip->bytes + sizeof(MAPPED)) == 1;
	if (*ret_is_v4)
		memcpy(ip->bytes, MAPPED, sizeof(MAPPED));
	return *ret_is_v4 || inet_pton(AF_INET6, text, ip->bytes) == 1;
}

/* The address as text; an IPv4-mapped address as IPv4. */
static const char *ip_text(struct arena *arena, const struct ip *ip)
{
	char *text = arena_alloc(arena, INET6_ADDRSTRLEN);
	bool is_v4 = IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)ip->bytes);
	require(inet_ntop(is_v4 ? AF_INET : AF_INET6, ip->bytes + (is_v4 ? 12 : 0), text,
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

/* `address` or `address/bits`. */
static bool network_parse(char *text, struct network *network)
{
	bool is_v4;
	char *slash = strchr(text, '/');
	if (slash)
		*slash = '\0';
	if (!ip_parse(text, &network->ip, &is_v4))
		return false;
	network->bits = ADDRESS_BITS;
	if (!slash)
		return true;
	const char *digits = slash + 1;
	size_t length = strlen(digits);
	if (length == 0 || length > 3 || strspn(digits, "0123456789") != length)
		return false;
	unsigned bits = 0, most = is_v4 ? IPV4_BITS : ADDRESS_BITS;
	for (; *digits; digits++)
		bits = 10 * bits + (unsigned)(*digits - '0');
	network->bits = ADDRESS_BITS - most + bits;
	return bits <= most;
}

/* --- Trusted proxies -------------------------------------------------------------------------- */

enum err_code trusted_parse(struct arena *arena, const char *text,
                            const struct trusted **ret_trusted)
{
	struct trusted *trusted = arena_new_of(arena, struct trusted);
	trusted->networks = arena_array(arena, strlen(text) / 2 + 1, sizeof(*trusted->networks));
	char *rest = arena_strdup(arena, text);
	for (char *word; (word = strsep(&rest, SEPARATORS));) {
		if (!*word)
			continue;
		if (strcmp(word, "unix") == 0)
			trusted->has_unix = true;
		else if (!network_parse(word, &trusted->networks[trusted->count++]))
			return ERR_INVALID;
	}
	*ret_trusted = trusted;
	return ERR_NONE;
}

static bool trusts(const struct trusted *trusted, const struct ip *ip)
{
	for (size_t i = 0; i < trusted->count; i++)
		if (network_has(&trusted->networks[i], ip))
			return true;
	return false;
}

static bool trusts_peer(const struct trusted *trusted, const char *peer)
{
	struct ip ip;
	bool is_v4;
	if (strcmp(peer, "unix") == 0)
		return trusted->has_unix;
	return trusted->count > 0 && ip_parse(peer, &ip, &is_v4) && trusts(trusted, &ip);
}

/* --- Lists, read from their end --------------------------------------------------------------- */

/* Iterates over the elements of all fields of one name, from the last to the first. */
struct reverse_list {
	const struct http_head *head;
	const char *name;
	size_t field; /* index of the current field; those after it were read */
	/* The start of the field's value, and the end of its unread part. NULL: all was read. */
	const char *start, *at;
};

/* Get the next element, without the white space around it. Returns false when there is none. */
static bool reverse_list_next(struct reverse_list *list, const char **ret_text, size_t *ret_length)
{
	while (!list->start) {
		if (!list->field)
			return false;
		const struct http_field *field = &list->head->fields[--list->field];
		if (strcasecmp(field->name, list->name) != 0)
			continue;
		list->start = field->value;
		list->at = field->value + field->value_length;
	}
	const char *end = list->at, *text = end;
	while (text > list->start && text[-1] != ',')
		text--;
	if (text > list->start)
		list->at = text - 1;
	else
		list->start = NULL;
	while (text < end && strchr(" \t", *text))
		text++;
	while (end > text && strchr(" \t", end[-1]))
		end--;
	*ret_text = text;
	*ret_length = (size_t)(end - text);
	return true;
}

/* Parse an element of X-Forwarded-For: `192.0.2.1`, `2001:db8::1`, or these with a port, which some
 * proxies add. */
static bool element_parse(const char *text, size_t length, struct ip *ip)
{
	char copy[ADDRESS_TEXT_MAX];
	bool is_v4;
	if (length == 0 || length >= sizeof(copy))
		return false;
	memcpy(copy, text, length);
	copy[length] = '\0';
	char *address = copy, *colon = strchr(copy, ':');
	if (*copy == '[') {
		char *bracket = strchr(copy, ']');
		if (!bracket)
			return false;
		*bracket = '\0';
		address = copy + 1;
	} else if (colon && !strchr(colon + 1, ':')) {
		*colon = '\0';
	}
	return ip_parse(address, ip, &is_v4);
}

/* The scheme that belongs to the address `index` elements before the last. A proxy may replace the
 * scheme instead of appending its own: then the only element applies to all addresses. */
static const char *scheme_at(const struct http_head *head, size_t index)
{
	struct reverse_list list = {head, "X-Forwarded-Proto", head->field_count, NULL, NULL};
	const char *text = "";
	size_t length = 0;
	for (size_t i = 0; i <= index && reverse_list_next(&list, &text, &length); i++)
		;
	return length == 5 && strncasecmp(text, "https", length) == 0 ? "https" : "http";
}

struct forwarded forwarded_read(const struct trusted *trusted, struct arena *arena,
                                const struct http_head *head, const char *peer)
{
	struct forwarded from = {.client = peer, .scheme = "http"};
	if (!trusts_peer(trusted, peer))
		return from;
	struct reverse_list list = {head, "X-Forwarded-For", head->field_count, NULL, NULL};
	const char *text;
	size_t length, index = 0;
	struct ip ip;
	bool is_known = false, is_proxy = true;
	for (size_t i = 0; is_proxy && reverse_list_next(&list, &text, &length); i++) {
		struct ip element;
		if (!element_parse(text, length, &element))
			break;
		ip = element;
		index = i;
		is_known = true;
		is_proxy = trusts(trusted, &ip);
	}
	if (is_known)
		from.client = ip_text(arena, &ip);
	from.scheme = scheme_at(head, index);
	return from;
}
