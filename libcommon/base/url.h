/** The one check of URLs that are stored or shown, which clients turn into links, and what else
 * depends on their form: schemes and hosts have no case (RFC 3986 section 6.2.2.1). */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/** Bytes of the `http://` or `https://` that `text` begins with, in any case; 0: of neither. */
size_t url_scheme_length(const char *text);

/** An absolute URL of http or https with its scheme and host in lower case, so that equal ones are
 * equal texts; another text as it is. In the arena. */
const char *url_canonical(struct arena *arena, const char *url);

/** Bytes of the loopback host, localhost, 127.0.0.1 or [::1], that an authority (`host:port`)
 * begins with, in any case; 0: of none. The name may go on behind them: the caller looks. */
size_t url_loopback_length(const char *authority);

/** Find the next place from `from` on where `text` has `host`, in any case, as a whole name, alone
 * or behind `www.`: not as the end of another name, or behind a user name. Returns what follows
 * it. NULL: there is none, or `host` is empty. */
const char *url_host_find(const char *text, const char *from, const char *host);

/** The URL for logs: without a query, a user name and a password, and, with `is_path_secret`,
 * without a path. In the arena. */
const char *url_without_secrets(struct arena *arena, const char *url, bool is_path_secret);

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
