/** The one check of URLs that are stored or shown: clients turn them into links. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/** Check an absolute URL, a subset of RFC 3986: scheme http or https, a host, no user name or
 * password, no white space, control characters, quotes, angle brackets or backslashes. On false
 * *ret_message says what is wrong. */
bool url_is_link(const char *text, size_t length, const char **ret_message);

/** As url_is_link(), but also accepts an empty text. */
bool url_is_link_or_empty(const char *text, size_t length, const char **ret_message);

/** Check a text that may be a URL or another reference, such as `acme/ranker`, `arXiv:2205.14135`
 * or `localhost:5000/image`: what begins with a scheme that a browser executes or reads locally
 * (`javascript:`, `data:`, `file:`) is refused, and what begins with http: or https: must be a
 * link. */
bool url_is_safe_reference(const char *text, size_t length, const char **ret_message);
