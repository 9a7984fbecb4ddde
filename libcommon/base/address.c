#include "base/address.h"

#include <stddef.h>
#include <string.h>
#include <sys/un.h>

#define HOST_MAX 253 /* longest DNS name, RFC 1035 section 2.3.4 */

static const char ALNUM[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/* One to five digits up to the end of the text. */
static bool port_parse(const char *text, uint16_t *ret_port)
{
	size_t length = strlen(text);
	if (length == 0 || length > 5 || strspn(text, "0123456789") != length)
		return false;
	unsigned port = 0;
	for (const char *digit = text; *digit != '\0'; digit++)
		port = 10 * port + (unsigned)(*digit - '0');
	if (port > UINT16_MAX)
		return false;
	*ret_port = (uint16_t)port;
	return true;
}

static bool host_is_valid(const char *host, size_t length, const char *punctuation)
{
	if (length == 0 || length > HOST_MAX)
		return false;
	for (size_t i = 0; i < length; i++)
		if (host[i] == '\0' || (!strchr(ALNUM, host[i]) && !strchr(punctuation, host[i])))
			return false;
	return true;
}

static enum err_code parse_unix(struct arena *arena, const char *path, struct address *address)
{
	if (path[0] != '/' || strlen(path) >= sizeof(((struct sockaddr_un *)0)->sun_path))
		return ERR_INVALID;
	address->is_unix = true;
	address->host = arena_strdup(arena, path);
	return ERR_NONE;
}

static enum err_code parse_host_port(struct arena *arena, const char *text, struct address *address)
{
	const char *host = text, *end, *punctuation = ".-_", *colon;
	if (text[0] == '[') {
		host = text + 1;
		end = strchr(host, ']');
		punctuation = ":.%";
		if (!end || !memchr(host, ':', (size_t)(end - host)))
			return ERR_INVALID;
		colon = end + 1;
	} else {
		end = colon = strchr(text, ':');
	}
	if (!colon || *colon != ':' || !port_parse(colon + 1, &address->port) ||
	    !host_is_valid(host, (size_t)(end - host), punctuation))
		return ERR_INVALID;
	address->host = arena_strndup(arena, host, (size_t)(end - host));
	return ERR_NONE;
}

enum err_code address_parse(struct arena *arena, const char *text, struct address *ret_address)
{
	static const char UNIX[] = "unix:", HTTP[] = "http://";
	struct address address = {.text = arena_strdup(arena, text)};
	enum err_code code;
	if (strncmp(text, UNIX, strlen(UNIX)) == 0)
		code = parse_unix(arena, text + strlen(UNIX), &address);
	else if (strncmp(text, HTTP, strlen(HTTP)) == 0)
		code = parse_host_port(arena, text + strlen(HTTP), &address);
	else
		code = parse_host_port(arena, text, &address);
	if (code == ERR_NONE)
		*ret_address = address;
	return code;
}

static enum err_code listen_address_parse(struct arena *arena, const char *text,
                                          struct listen_address *ret_address)
{
	static const char HTTPS[] = "https://";
	bool is_tls = strncmp(text, HTTPS, strlen(HTTPS)) == 0;
	ret_address->is_tls = is_tls;
	return address_parse(arena, is_tls ? text + strlen(HTTPS) : text, &ret_address->address);
}

enum err_code listen_addresses_parse(struct arena *arena, const char *text,
                                     struct listen_address ret_addresses[LISTEN_MAX],
                                     size_t *ret_count)
{
	static const char SEPARATORS[] = ", ";
	size_t count = 0;
	enum err_code code = ERR_NONE;
	for (const char *at = text + strspn(text, SEPARATORS); *at && !code;) {
		size_t length = strcspn(at, SEPARATORS);
		const char *one = arena_strndup(arena, at, length);
		code = count < LISTEN_MAX
		               ? listen_address_parse(arena, one, &ret_addresses[count++])
		               : ERR_INVALID;
		at += length;
		at += strspn(at, SEPARATORS);
	}
	*ret_count = count;
	return count > 0 ? code : ERR_INVALID;
}
