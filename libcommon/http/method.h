/** What a request does when it is sent again (RFC 9110 section 9.2). */
#pragma once

#include <stdbool.h>
#include <string.h>

enum http_effect {
	HTTP_ONCE,       /* twice is more than once */
	HTTP_IDEMPOTENT, /* twice is as once; but whether it was done at all has to be known */
	HTTP_SAFE,       /* it changes nothing */
};

/** Whether a request with this method changes nothing: GET, HEAD, OPTIONS. */
static inline bool http_method_is_safe(const char *method)
{
	return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 ||
	       strcmp(method, "OPTIONS") == 0;
}

/** The effect of a request with this method (NULL: GET), of which the caller knows `known`;
 * HTTP_ONCE: nothing. */
static inline enum http_effect http_effect_of(enum http_effect known, const char *method)
{
	return !method || http_method_is_safe(method) ? HTTP_SAFE : known;
}
