/** Safe request methods (RFC 9110 section 9.2.1). */
#pragma once

#include <stdbool.h>
#include <string.h>

/** Whether a request with this method changes nothing: GET, HEAD, OPTIONS. */
static inline bool http_method_is_safe(const char *method)
{
	return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 ||
	       strcmp(method, "OPTIONS") == 0;
}
