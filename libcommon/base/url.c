#include "base/url.h"

#include "base/base.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Schemes that make a link dangerous. */
static const char *const REFUSED[] = {"javascript", "vbscript", "data",       "file",
                                      "blob",       "about",    "view-source"};

size_t url_scheme_length(const char *text)
{
	static const char *const SCHEMES[] = {"https://", "http://"};
	for (size_t i = 0; i < ARRAY_LEN(SCHEMES); i++)
		if (strncasecmp(text, SCHEMES[i], strlen(SCHEMES[i])) == 0)
			return strlen(SCHEMES[i]);
	return 0;
}

size_t url_loopback_length(const char *authority)
{
	static const char *const HOSTS[] = {"localhost", "127.0.0.1", "[::1]"};
	for (size_t i = 0; i < ARRAY_LEN(HOSTS); i++)
		if (strncasecmp(authority, HOSTS[i], strlen(HOSTS[i])) == 0)
			return strlen(HOSTS[i]);
	return 0;
}

const char *url_canonical(struct arena *arena, const char *url)
{
	size_t scheme = url_scheme_length(url);
	char *copy = arena_strdup(arena, url);
	size_t end = scheme ? scheme + strcspn(url + scheme, "/?#") : 0;
	for (size_t i = 0; i < end; i++)
		copy[i] = (char)tolower((unsigned char)copy[i]);
	return copy;
}

/* Whether the host at `at` begins a name. */
static bool is_whole(const char *text, const char *at)
{
	if (at - text >= 4 && strncasecmp(at - 4, "www.", 4) == 0)
		at -= 4;
	return at == text || !(isalnum((unsigned char)at[-1]) || strchr(".-_@", at[-1]));
}

const char *url_without_secrets(struct arena *arena, const char *url, bool is_path_secret)
{
	const char *scheme = strstr(url, "://");
	size_t start = scheme ? (size_t)(scheme - url) + 3 : 0;
	size_t end = is_path_secret ? start + strcspn(url + start, "/?#") : strcspn(url, "?#");
	const char *at = memrchr(url + start, '@', strcspn(url + start, "/?#"));
	size_t host = at ? (size_t)(at + 1 - url) : start;
	return arena_printf(arena, "%.*s%.*s", (int)start, url, (int)(end - host), url + host);
}

const char *url_host_find(const char *text, const char *from, const char *host)
{
	size_t length = strlen(host);
	for (const char *at = from; length && (at = strcasestr(at, host)); at++)
		if (is_whole(text, at))
			return at + length;
	return NULL;
}

bool url_is_link(const char *text, size_t length, const char **ret_message)
{
	size_t scheme = url_scheme_length(text);
	*ret_message = "must be an absolute http or https URL";
	if (!scheme || length == scheme || strchr("/?#:", text[scheme]))
		return false;
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)text[i] <= ' ' || text[i] == 0x7F || strchr("<>\"\\", text[i]))
			return false;
	if (memchr(text + scheme, '@', strcspn(text + scheme, "/?#"))) {
		*ret_message = "must not have a user name or password";
		return false;
	}
	return true;
}

bool url_is_link_or_empty(const char *text, size_t length, const char **ret_message)
{
	return length == 0 || url_is_link(text, length, ret_message);
}

/* The length of the scheme before the first colon, after white space and control characters, which
 * browsers skip (WHATWG URL, section 4.4). */
static size_t scheme_of(const char **text)
{
	while (**text && (unsigned char)**text <= ' ')
		(*text)++;
	size_t length = strcspn(*text, ":");
	return (*text)[length] == ':' ? length : 0;
}

/* Whether `scheme` is `name`, without case, and without the tabs and line breaks that browsers
 * drop. */
static bool is_scheme(const char *scheme, size_t length, const char *name)
{
	for (; length > 0; scheme++, length--) {
		if (strchr("\t\r\n", *scheme))
			continue;
		if (!*name || strncasecmp(scheme, name, 1) != 0)
			return false;
		name++;
	}
	return !*name;
}

bool url_is_safe_reference(const char *text, size_t length, const char **ret_message)
{
	const char *scheme = text;
	size_t scheme_length = scheme_of(&scheme);
	if (is_scheme(scheme, scheme_length, "http") || is_scheme(scheme, scheme_length, "https"))
		return url_is_link(text, length, ret_message);
	*ret_message = "must not be a URL of this scheme";
	for (size_t i = 0; i < ARRAY_LEN(REFUSED); i++)
		if (is_scheme(scheme, scheme_length, REFUSED[i]))
			return false;
	return true;
}
