#include "base/url.h"

#include "base/base.h"

#include <string.h>
#include <strings.h>

/* Schemes that make a link dangerous. */
static const char *const REFUSED[] = {"javascript", "vbscript", "data",       "file",
                                      "blob",       "about",    "view-source"};

bool url_is_link(const char *text, size_t length, const char **ret_message)
{
	size_t scheme = strncmp(text, "https://", 8) == 0  ? 8
	                : strncmp(text, "http://", 7) == 0 ? 7
	                                                   : 0;
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
