#include "proxy/forwarded.h"

#include "base/ip.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define ADDRESS_TEXT_MAX 64 /* a longer text is not an address */

struct trusted {
	const struct ip_networks *networks;
	bool has_unix;
};

/* --- Trusted proxies -------------------------------------------------------------------------- */

enum err_code trusted_parse(struct arena *arena, const char *text,
                            const struct trusted **ret_trusted)
{
	struct trusted *trusted = arena_new_of(arena, struct trusted);
	enum err_code code =
		ip_networks_parse(arena, text, "unix", &trusted->has_unix, &trusted->networks);
	if (!code)
		*ret_trusted = trusted;
	return code;
}

bool trusted_has_peer(const struct trusted *trusted, const char *peer)
{
	struct ip ip;
	if (strcmp(peer, "unix") == 0)
		return trusted->has_unix;
	return !ip_networks_empty(trusted->networks) && ip_parse(peer, &ip) &&
	       ip_networks_have(trusted->networks, &ip);
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
	return ip_parse(address, ip);
}

/* The scheme that belongs to the address `index` elements before the last. A proxy may replace the
 * scheme instead of appending its own: then the only element applies to all addresses. Without an
 * element it is `fallback`. */
static const char *scheme_at(const struct http_head *head, size_t index, const char *fallback)
{
	struct reverse_list list = {head, "X-Forwarded-Proto", head->field_count, NULL, NULL};
	const char *text = NULL;
	size_t length = 0;
	for (size_t i = 0; i <= index && reverse_list_next(&list, &text, &length); i++)
		;
	if (!text)
		return fallback;
	return length == 5 && strncasecmp(text, "https", length) == 0 ? "https" : "http";
}

struct forwarded forwarded_read(const struct trusted *trusted, struct arena *arena,
                                const struct http_head *head, struct forwarded peer)
{
	struct forwarded from = peer;
	if (!trusted_has_peer(trusted, peer.client))
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
		is_proxy = ip_networks_have(trusted->networks, &ip);
	}
	if (is_known)
		from.client = ip_text(arena, &ip);
	from.scheme = scheme_at(head, index, peer.scheme);
	return from;
}
