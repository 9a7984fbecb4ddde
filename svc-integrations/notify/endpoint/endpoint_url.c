#include "notify/endpoint/endpoint_url.h"

#include "base/base.h"
#include "base/ip.h"
#include "base/url.h"
#include "client/guard.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define HOST_MAX          253 /* characters of a name; RFC 1035 section 2.3.4 */
#define PORT_UNPRIVILEGED 1024
#define SLACK             "https://hooks.slack.com/services/"
#define SHOWN_CHARS       4

struct authority {
	char host[HOST_MAX + 1]; /* without brackets and the point at its end */
	long port;               /* 0: the default */
};

/* Host and port of a URL that url_is_link() accepts. False: they are in no usual form. */
static bool authority_read(const char *text, struct authority *ret)
{
	const char *host = text + url_scheme_length(text);
	size_t length = strcspn(host, "/?#");
	bool is_bracketed = host[0] == '[';
	const char *end = memchr(host, is_bracketed ? ']' : ':', length);
	size_t host_length = end ? (size_t)(end - host) - is_bracketed : length;
	const char *port = end && is_bracketed ? end + 1 : end;
	*ret = (struct authority){0};
	if ((is_bracketed && !end) || host_length == 0 || host_length > HOST_MAX)
		return false;
	memcpy(ret->host, host + is_bracketed, host_length);
	if (ret->host[host_length - 1] == '.')
		ret->host[host_length - 1] = 0;
	if (!port || port == host + length)
		return true;
	char *rest;
	ret->port =
		*port == ':' && isdigit((unsigned char)port[1]) ? strtol(port + 1, &rest, 10) : -1;
	return ret->port > 0 && ret->port <= 65535 && rest == host + length;
}

static bool is_name(const char *host)
{
	return host[0] && host[strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                                    "0123456789-._")] == 0;
}

/* The address that a host stands for, also in the spellings of inet_aton(3), such as 127.1 and
 * 0x7f000001. */
static bool host_is_address(const char *host, struct ip *ret_ip)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET};
	if (inet_aton(host, &v4.sin_addr))
		return ip_of_socket((const struct sockaddr *)&v4, ret_ip);
	return ip_parse(host, ret_ip);
}

bool endpoint_url_check(const char *text, size_t length, const char **ret_message)
{
	struct authority authority;
	struct ip ip;
	bool is_https = strncasecmp(text, "https:", 6) == 0;
	if (!url_is_link(text, length, ret_message))
		return false;
	*ret_message = "must be an https URL";
	if (!is_https && !fetch_guard_lists_any())
		return false;
	*ret_message =
		"must have a host, a name in ASCII or an address, and a port from 1024 on or none";
	if (!authority_read(text, &authority) ||
	    (authority.port && authority.port != (is_https ? 443 : 80) &&
	     authority.port < PORT_UNPRIVILEGED))
		return false;
	if (!host_is_address(authority.host, &ip))
		return is_name(authority.host);
	*ret_message = "must not have the address of a private network";
	return fetch_guard_lists(&ip) || (is_https && ip_is_public(&ip));
}

bool endpoint_url_is_slack(const char *url)
{
	struct authority authority;
	struct ip ip;
	if (strncmp(url, SLACK, strlen(SLACK)) == 0)
		return true;
	return authority_read(url, &authority) && host_is_address(authority.host, &ip) &&
	       fetch_guard_lists(&ip);
}

const char *endpoint_url_masked(struct arena *arena, const char *url)
{
	size_t host = url_scheme_length(url) + strcspn(url + url_scheme_length(url), "/?#");
	size_t length = strlen(url),
	       shown = strncmp(url, SLACK, strlen(SLACK)) ? host : strlen(SLACK) - 1;
	size_t hint = MIN_OF(length - host, SHOWN_CHARS);
	return arena_printf(arena, "%.*s/...%s", (int)shown, url, url + length - hint);
}
