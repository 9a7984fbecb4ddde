/** Properties of request methods (RFC 9110, section 9.2): what may be repeated. */
#pragma once

#include <stdbool.h>
#include <string.h>

/** Whether the method asks for no change: GET, HEAD, OPTIONS. */
static inline bool http_method_is_safe(const char *method)
{
	return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 ||
	       strcmp(method, "OPTIONS") == 0;
}

/** Whether several such requests are meant to have the effect of one: the safe ones, PUT, DELETE. */
static inline bool http_method_is_idempotent(const char *method)
{
	return http_method_is_safe(method) || strcmp(method, "PUT") == 0 ||
	       strcmp(method, "DELETE") == 0;
}
