#include "proxy/cors.h"

#include <string.h>

static const char SEPARATORS[] = ", \t";

static const char EXPOSED[] =
	"X-Total-Count, Link, ETag, X-Request-Id, X-Search-Strategy, X-Search-Hint, RateLimit, "
	"RateLimit-Policy, Retry-After, Idempotent-Replayed, X-Ignored-Fields, WWW-Authenticate";
static const char METHODS[] = "GET, HEAD, POST, PUT, PATCH, DELETE";
static const char REQUEST_FIELDS[] =
	"Authorization, Content-Type, Content-Encoding, Idempotency-Key, If-Match, "
	"If-None-Match, X-Request-Id, traceparent, MCP-Protocol-Version, Mcp-Method, Mcp-Name";
static const char MAX_AGE_S[] = "600";

struct cors {
	const char **origins;
	size_t count;
	bool is_any;
};

/* `https://host` or `http://host:port`, as browsers send it: lower case, no path. */
static bool is_origin(const char *text)
{
	size_t scheme = strncmp(text, "https://", 8) == 0  ? 8
	                : strncmp(text, "http://", 7) == 0 ? 7
	                                                   : 0;
	const char *host = text + scheme;
	return scheme && *host &&
	       strspn(host, "abcdefghijklmnopqrstuvwxyz0123456789.-:[]") == strlen(host);
}

enum err_code cors_parse(struct arena *arena, const char *text, const struct cors **ret_cors)
{
	struct cors *cors = arena_new_of(arena, struct cors);
	cors->origins = arena_array(arena, strlen(text) / 2 + 1, sizeof(*cors->origins));
	char *rest = arena_strdup(arena, text);
	for (char *word; (word = strsep(&rest, SEPARATORS));) {
		if (strcmp(word, "*") == 0)
			cors->is_any = true;
		else if (*word && !is_origin(word))
			return ERR_INVALID;
		else if (*word)
			cors->origins[cors->count++] = word;
	}
	*ret_cors = cors->is_any || cors->count > 0 ? cors : NULL;
	return ERR_NONE;
}

static bool is_listed(const struct cors *cors, const char *origin)
{
	for (size_t i = 0; i < cors->count; i++)
		if (strcmp(cors->origins[i], origin) == 0)
			return true;
	return false;
}

bool cors_has(const struct cors *cors, const char *origin)
{
	return cors->is_any || is_listed(cors, origin);
}

/* The request's origin, if it is listed; otherwise NULL. */
static const char *origin_of(const struct cors *cors, const struct http_head *head)
{
	const char *origin = http_head_get(head, "Origin");
	if (origin && is_listed(cors, origin))
		return origin;
	return origin && cors->is_any ? "*" : NULL;
}

size_t cors_fields(const struct cors *cors, const struct http_head *head,
                   struct http_field fields[CORS_FIELDS_MAX])
{
	const char *origin = origin_of(cors, head);
	if (!origin)
		return 0;
	fields[0] = http_field_of("Access-Control-Allow-Origin", origin);
	fields[1] = http_field_of("Access-Control-Expose-Headers", EXPOSED);
	fields[2] = http_field_of("Vary", "Origin");
	return 3;
}

bool cors_is_preflight(const struct cors *cors, const struct http_head *head)
{
	return strcmp(head->method, "OPTIONS") == 0 && origin_of(cors, head) &&
	       http_head_get(head, "Access-Control-Request-Method");
}

size_t cors_preflight_fields(const struct cors *cors, const struct http_head *head,
                             struct http_field fields[CORS_FIELDS_MAX])
{
	fields[0] = http_field_of("Access-Control-Allow-Origin", origin_of(cors, head));
	fields[1] = http_field_of("Access-Control-Allow-Methods", METHODS);
	fields[2] = http_field_of("Access-Control-Allow-Headers", REQUEST_FIELDS);
	fields[3] = http_field_of("Access-Control-Max-Age", MAX_AGE_S);
	fields[4] = http_field_of("Vary", "Origin");
	return 5;
}
