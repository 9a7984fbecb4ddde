#include "pg/target.h"

#include "base/base.h"

#include <uv.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define OPTIONS_MAX 64 /* libpq 17 has 48 */

struct pg_target {
	struct arena *arena; /* wiped when freed: it holds the password */
	const char *keywords[OPTIONS_MAX + 1];
	const char *values[OPTIONS_MAX + 1];
	size_t count;
	const char *name; /* pg_target_name() */
};

struct option {
	const char *keyword, *value;
};

/* For every session. Our statements are short: compiling one (jit) takes longer than running it. */
#define SESSION                                                                    \
	"-c client_connection_check_interval=1s -c timezone=UTC -c datestyle=ISO " \
	"-c bytea_output=hex -c jit=off"

/* Used where the URL has no value. A peer that vanished is noticed after 15 s while bytes are
 * unacknowledged, else after 30 s. GSSAPI encryption would load the Kerberos configuration without
 * need. */
static const struct option DEFAULTS[] = {
	{"connect_timeout", "5"},
	{"client_encoding", "UTF8"},
	{"fallback_application_name", "expops"},
	{"gssencmode", "disable"},
	{"keepalives_idle", "15"},
	{"keepalives_interval", "5"},
	{"keepalives_count", "3"},
	{"tcp_user_timeout", "15000"},
};

static const char *target_get(const struct pg_target *target, const char *keyword)
{
	for (size_t i = 0; i < target->count; i++) {
		if (strcmp(target->keywords[i], keyword) == 0)
			return target->values[i];
	}
	return NULL;
}

static void target_set(struct pg_target *target, const char *keyword, const char *value)
{
	size_t i = 0;
	while (i < target->count && strcmp(target->keywords[i], keyword) != 0)
		i++;
	require(i < OPTIONS_MAX);
	target->keywords[i] = keyword;
	target->values[i] = value;
	target->count = MAX_OF(target->count, i + 1);
}

static bool is_literal(const char *host)
{
	unsigned char address[16];
	return uv_inet_pton(AF_INET, host, address) == 0 ||
	       uv_inet_pton(AF_INET6, host, address) == 0;
}

/* Whether the host is one name that getaddrinfo() has to look up. */
static bool is_name(const char *host)
{
	return host && host[0] != '\0' && host[0] != '/' && host[0] != '@' && !strchr(host, ',') &&
	       !is_literal(host);
}

struct pg_target *pg_target_new(const char *url, const char *schema, uint64_t statement_timeout_ms)
{
	PQconninfoOption *options = PQconninfoParse(url, NULL);
	if (!options)
		return NULL;
	struct arena *arena = arena_new_wiped();
	struct pg_target *target = arena_new_of(arena, struct pg_target);
	target->arena = arena;
	for (const PQconninfoOption *o = options; o->keyword; o++) {
		if (o->val)
			target_set(target, arena_strdup(arena, o->keyword),
			           arena_strdup(arena, o->val));
	}
	PQconninfoFree(options);

	for (size_t i = 0; i < ARRAY_LEN(DEFAULTS); i++) {
		if (!target_get(target, DEFAULTS[i].keyword))
			target_set(target, DEFAULTS[i].keyword, DEFAULTS[i].value);
	}
	const char *given = target_get(target, "options");
	target_set(target, "options",
	           arena_printf(arena, SESSION " -c statement_timeout=%llu %s%s %s",
	                        (unsigned long long)statement_timeout_ms,
	                        schema ? "-c search_path=" : "", schema ? schema : "",
	                        given ? given : ""));
	if (!target_get(target, "hostaddr") && is_name(target_get(target, "host")))
		target->name = target_get(target, "host");
	return target;
}

void pg_target_free(struct pg_target *target)
{
	if (target)
		arena_free(target->arena);
}

const char *pg_target_name(const struct pg_target *target)
{
	return target->name;
}

PGconn *pg_target_connect(const struct pg_target *target, const char *address)
{
	struct pg_target with = *target;
	if (address)
		target_set(&with, "hostaddr", address);
	return PQconnectStartParams(with.keywords, with.values, 0);
}

PGconn *pg_target_connect_now(const struct pg_target *target)
{
	return PQconnectdbParams(target->keywords, target->values, 0);
}

const char *pg_error_line(struct arena *arena, const PGconn *pg)
{
	char *line = arena_strdup(arena, PQerrorMessage(pg));
	size_t length = strlen(line);
	while (length > 0 && line[length - 1] == '\n')
		line[--length] = '\0';
	for (char *at = line; (at = strpbrk(at, "\n\t"));)
		*at = ' ';
	return line;
}
