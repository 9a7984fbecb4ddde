#include "proxy/origin.h"

#include "base/address.h"
#include "base/base.h"
#include "base/url.h"
#include "proxy/cors.h"

#include <string.h>
#include <strings.h>

/* Whether `authority`, `host` or `host:port`, is a loopback one. */
static bool is_loopback_authority(const char *authority)
{
	size_t length = url_loopback_length(authority);
	const char *port = authority + length;
	if (length == 0 || *port == '\0')
		return length > 0;
	size_t digits = *port == ':' ? strspn(port + 1, "0123456789") : 0;
	return digits > 0 && port[1 + digits] == '\0';
}

/* The address has no brackets of IPv6. */
static bool is_loopback_address(const struct address *address)
{
	if (address->is_unix)
		return false;
	return strncmp(address->host, "127.", 4) == 0 || strcmp(address->host, "::1") == 0 ||
	       strcasecmp(address->host, "localhost") == 0;
}

/* Whether an address of LISTEN is a loopback one. */
static bool is_loopback_listener(struct arena *arena, const char *listen)
{
	struct listen_address addresses[LISTEN_MAX];
	size_t count;
	if (listen_addresses_parse(arena, listen, addresses, &count))
		return false;
	for (size_t i = 0; i < count; i++)
		if (is_loopback_address(&addresses[i].address))
			return true;
	return false;
}

/* The scheme and the authority of a URL; NULL: it is empty. */
static const char *origin_of_url(struct arena *arena, const char *url)
{
	const char *scheme_end = strstr(url, "://");
	if (!scheme_end)
		return NULL;
	const char *authority = scheme_end + 3;
	return arena_lower(arena,
	                   arena_strndup(arena, url,
	                                 (size_t)(authority - url) + strcspn(authority, "/?#")));
}

const struct origin_rules *origin_rules_new(struct arena *arena, const char *public_url,
                                            const char *listen, const struct cors *cors)
{
	struct origin_rules *rules = arena_new_of(arena, struct origin_rules);
	rules->public_origin = origin_of_url(arena, public_url);
	rules->cors = cors;
	rules->is_loopback = is_loopback_listener(arena, listen);
	return rules;
}

static bool is_allowed_page(const struct origin_rules *rules, const char *origin)
{
	const char *authority = strstr(origin, "://");
	if (rules->public_origin && strcmp(origin, rules->public_origin) == 0)
		return true;
	if (rules->cors && cors_has(rules->cors, origin))
		return true;
	return rules->is_loopback && authority && is_loopback_authority(authority + 3);
}

bool origin_is_allowed(const struct origin_rules *rules, const struct http_head *head)
{
	const char *origin = http_head_get(head, "Origin"), *host = http_head_get(head, "Host");
	if (origin && !is_allowed_page(rules, origin))
		return false;
	if (!rules->is_loopback || rules->public_origin)
		return true;
	return host && is_loopback_authority(host);
}
