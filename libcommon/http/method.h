/** What a request does when it is sent again (RFC 9110 section 9.2). */
#pragma once

#include <stdbool.h>
#include <string.h>

enum http_effect {
	HTTP_EFFECT_OF_METHOD, /* the caller knows no more than the method: http_effect_of() */
	HTTP_SAFE,             /* it changes nothing */
	HTTP_IDEMPOTENT,       /* sent twice, it is done as once; but whether it was done at all has
				  to be known */
	HTTP_ONCE,             /* sent twice, it is done twice */
};

/** Whether a request with this method changes nothing: GET, HEAD, OPTIONS. */
static inline bool http_method_is_safe(const char *method)
{
	return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 ||
	       strcmp(method, "OPTIONS") == 0;
}

/** The effect of a request: `known`, or that of the method (NULL: GET). PUT and DELETE, which the
 * RFC calls idempotent, are HTTP_ONCE unless the caller says more: the second answer may be another
 * one than the first, such as 404. */
static inline enum http_effect http_effect_of(enum http_effect known, const char *method)
{
	if (known != HTTP_EFFECT_OF_METHOD)
		return known;
	return !method || http_method_is_safe(method) ? HTTP_SAFE : HTTP_ONCE;
}
