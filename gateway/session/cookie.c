#include "session/cookie.h"

#include "base/base.h"
#include "crypto/scope.h"

#include <string.h>
#include <strings.h>

#define HTTPS "https://"

/* Of what agents report. */
#define AGENT_SCOPES (UINT64_C(1) << SCOPE_BIT_FLEET_REPORT | UINT64_C(1) << SCOPE_BIT_EVAL_REPORT)

struct cookie_rules cookie_rules_of(const char *public_origin, bool is_tls_only)
{
	bool is_secure =
		public_origin ? strncmp(public_origin, HTTPS, sizeof(HTTPS) - 1) == 0 : is_tls_only;
	return (struct cookie_rules){
		.name = is_secure ? "__Host-expops" : "expops",
		.attributes = is_secure ? "; Path=/; HttpOnly; Secure; SameSite=Strict"
	                                : "; Path=/; HttpOnly; SameSite=Strict",
		.login_name = is_secure ? "__Host-expops-login" : "expops-login",
		.login_attributes = is_secure ? "; Path=/; HttpOnly; Secure; SameSite=Lax"
	                                      : "; Path=/; HttpOnly; SameSite=Lax",
		.public_origin = public_origin,
	};
}

/* The value of the cookie in a Cookie field (RFC 6265 section 4.2.1): `a=1; b=2`. */
static const char *value_in(struct arena *arena, const char *field, const char *name)
{
	size_t length = strlen(name);
	for (const char *at = field; *at;) {
		at += strspn(at, "; ");
		size_t pair = strcspn(at, ";");
		if (pair > length && strncmp(at, name, length) == 0 && at[length] == '=')
			return arena_strndup(arena, at + length + 1, pair - length - 1);
		at += pair;
	}
	return NULL;
}

const char *cookie_value(struct arena *arena, const struct http_head *head, const char *name)
{
	const char *field = http_head_get(head, "Cookie");
	return field ? value_in(arena, field, name) : NULL;
}

const char *cookie_read(const struct cookie_rules *rules, struct arena *arena,
                        const struct http_head *head)
{
	return http_head_get(head, "Authorization") ? NULL : cookie_value(arena, head, rules->name);
}

/* Whether an address is one of the origin: `https://expops.example.org/console/team`. */
static bool is_below(const char *address, const char *origin)
{
	size_t length = strlen(origin);
	return strncmp(address, origin, length) == 0 && address[length] == '/';
}

static bool is_own_page(const struct cookie_rules *rules, const struct http_head *head)
{
	const char *site = http_head_get(head, "Sec-Fetch-Site");
	const char *origin = http_head_get(head, "Origin");
	const char *referer = http_head_get(head, "Referer");
	if (site)
		return strcmp(site, "same-origin") == 0;
	if (!rules->public_origin)
		return false;
	if (origin)
		return strcmp(origin, rules->public_origin) == 0;
	return referer && is_below(referer, rules->public_origin);
}

static bool is_writing(const struct http_head *head)
{
	static const char *const METHODS[] = {"POST", "PUT", "PATCH"};
	for (size_t i = 0; i < ARRAY_LEN(METHODS); i++)
		if (strcmp(head->method, METHODS[i]) == 0)
			return true;
	return false;
}

enum err_code cookie_permit(const struct cookie_rules *rules, const struct http_head *head,
                            const struct api_op *op)
{
	if (!is_own_page(rules, head))
		return ERR_CROSS_SITE;
	if (op->scope & AGENT_SCOPES)
		return ERR_FORBIDDEN;
	bool is_json = http_type_is(http_head_get(head, "Content-Type"), "application/json");
	return is_writing(head) && !is_json ? ERR_MEDIA_TYPE : ERR_NONE;
}
