/** The cookie of a browser's session, and which requests may use it.
 *
 * A browser sends the cookie with every request to this origin, also with those that a page of
 * another site makes. So it counts only when the browser says that a page of this origin makes the
 * request:
 *
 * - Sec-Fetch-Site is `same-origin`; or, where a browser sends no such field, Origin is that of
 *   PUBLIC_URL; or, where it sends neither, as with a GET, Referer is an address there. The console
 *   lets browsers send Referer to its own origin, and to no other;
 * - POST, PUT and PATCH say that their content is JSON, also without content: no form of another
 *   site can.
 *
 * Windows of a browser share the cookie, and one of them may have the session show another account.
 * So a page says in X-Expops-Account which account it shows; where the session shows another one,
 * the request is refused (authorization.h).
 *
 * The cookie is SameSite=Strict as well. Agents do not use browsers, so operations that report as
 * an agent do not take it, nor does /mcp. Authorization wins over the cookie.
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "http/api.h"
#include "http/head.h"

#include <stdbool.h>

#define ACCOUNT_FIELD "X-Expops-Account"

struct cookie_rules {
	const char *name;       /* of the cookie: `__Host-expops` */
	const char *attributes; /* `; Path=/; HttpOnly; Secure; SameSite=Strict` */
	/* Of the cookie that a browser has while its person is at a provider of log-ins. It is Lax,
	 * since the provider's page leads the browser back: a strict one would be missing. */
	const char *login_name, *login_attributes;
	const char *public_origin; /* `https://expops.example.org`; NULL: PUBLIC_URL is not set */
};

/** The rules for the origin of PUBLIC_URL; `is_tls_only`: the process listens by TLS alone. Where
 * browsers come by plain HTTP, since PUBLIC_URL begins with `http:`, or is not set and there is a
 * plain listener, the cookie is `expops` and not Secure: Safari does not take a secure one there.
 * Borrows. */
struct cookie_rules cookie_rules_of(const char *public_origin, bool is_tls_only);

/** The value of a cookie, in `arena`; NULL: the request has none of this name. */
const char *cookie_value(struct arena *arena, const struct http_head *head, const char *name);

/** The session's token that the request's cookie has, in `arena`; NULL: there is no such cookie, or
 * there is an Authorization. */
const char *cookie_read(const struct cookie_rules *rules, struct arena *arena,
                        const struct http_head *head);

/** Whether a request with the cookie may use it for the operation. ERR_CROSS_SITE, ERR_FORBIDDEN:
 * not for this operation, ERR_MEDIA_TYPE. */
enum err_code cookie_permit(const struct cookie_rules *rules, const struct http_head *head,
                            const struct api_op *op);
