/** Safe and idempotent request methods (RFC 9110 section 9.2). */
#pragma once

#include <stdbool.h>
#include <string.h>

/** Whether a request with this method changes nothing: GET, HEAD, OPTIONS. */
static inline bool http_method_is_safe(const char *method)
{
	return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 ||
	       strcmp(method, "OPTIONS") == 0;
}

/** Whether repeating a request with this method has no further effect: the safe methods, PUT,
 * DELETE. */
static inline bool http_method_is_idempotent(const char *method)
{
	return http_method_is_safe(method) || strcmp(method, "PUT") == 0 ||
	       strcmp(method, "DELETE") == 0;
}
