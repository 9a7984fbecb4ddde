#include "pg/target.h"

#include "base/base.h"
#include "base/timefmt.h"
#include "pg/fault.h"

#include <uv.h>

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define OPTIONS_MAX   64  /* libpq 17 has 48 */
#define TIMEOUT_MAX_S 600 /* of connect_timeout, also of 0, which is none */

struct pg_target {
	struct arena *arena;     /* wiped when freed: it holds the passwords; of both targets */
	struct pg_target *other; /* NULL: none */
	const char *keywords[OPTIONS_MAX + 1];
	const char *values[OPTIONS_MAX + 1];
	size_t count;
	const char *name; /* pg_target_name() */
};

struct option {
	const char *keyword, *value;
};

/* Used where the URL has no value. A peer that vanished is noticed after 10 s while bytes are
 * unacknowledged, else after 11 s; the server has the same limits (session.h). GSSAPI encryption
 * would load the Kerberos configuration without need. */
static const struct option DEFAULTS[] = {
	{"connect_timeout", "5"},
	{"client_encoding", "UTF8"},
	{"fallback_application_name", "expops"},
	{"gssencmode", "disable"},
	{"keepalives_idle", "5"},
	{"keepalives_interval", "2"},
	{"keepalives_count", "3"},
	{"tcp_user_timeout", "10000"},
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

/* Parse one URL, in the arena; NULL: that fails. */
static struct pg_target *target_parse(struct arena *arena, const char *url)
{
	PQconninfoOption *options = PQconninfoParse(url, NULL);
	if (!options)
		return NULL;
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
	if (!target_get(target, "hostaddr") && is_name(target_get(target, "host")))
		target->name = target_get(target, "host");
	return target;
}

/* Where the second URL begins; NULL: there is none. A list of keywords and values has spaces,
 * too. */
static const char *second_url(const char *text)
{
	const char *space = strchr(text, ' ');
	const char *url = space ? space + strspn(space, " ") : "";
	return strncmp(url, "postgres", strlen("postgres")) == 0 ? url : NULL;
}

static struct pg_target *targets_parse(struct arena *arena, const char *text)
{
	const char *second = second_url(text);
	if (!second)
		return target_parse(arena, text);
	struct pg_target *first =
		target_parse(arena, arena_strndup(arena, text, strcspn(text, " ")));
	struct pg_target *other = target_parse(arena, second);
	if (!first || !other)
		return NULL;
	first->other = other;
	other->other = first;
	return first;
}

struct pg_target *pg_target_new(const char *url)
{
	struct arena *arena = arena_new_wiped();
	struct pg_target *target = targets_parse(arena, url);
	if (!target)
		arena_free(arena);
	return target;
}

void pg_target_free(struct pg_target *target)
{
	if (target)
		arena_free(target->arena);
}

const struct pg_target *pg_target_other(const struct pg_target *target)
{
	return target->other;
}

bool pg_login_is_refused(const char *sqlstate)
{
	return strncmp(sqlstate, "28", 2) == 0;
}

const char *pg_target_name(const struct pg_target *target)
{
	return target->name;
}

static size_t host_count(const struct pg_target *target)
{
	const char *hosts = target_get(target, "hostaddr");
	size_t count = 1;
	hosts = hosts ? hosts : target_get(target, "host");
	for (; hosts && (hosts = strchr(hosts, ',')); hosts++)
		count++;
	return count;
}

/* The list from its element `first` on: `b,c,a`. A shorter one, such as the port of all hosts,
 * stays as it is. */
static const char *list_from(struct arena *arena, const char *list, size_t first)
{
	const char *at = list;
	for (; first > 0; first--) {
		const char *comma = strchr(at, ',');
		if (!comma)
			return list;
		at = comma + 1;
	}
	return at == list ? list : arena_printf(arena, "%s,%.*s", at, (int)(at - list - 1), list);
}

PGconn *pg_target_connect(const struct pg_target *target, const char *address, unsigned attempt)
{
	static const char *const LISTS[] = {"host", "hostaddr", "port"};
	struct arena *arena = arena_new();
	struct pg_target with = *target;
	size_t first = attempt % host_count(target);
	if (address)
		target_set(&with, "hostaddr", address);
	for (size_t i = 0; i < ARRAY_LEN(LISTS); i++) {
		const char *list = target_get(&with, LISTS[i]);
		if (list)
			target_set(&with, LISTS[i], list_from(arena, list, first));
	}
	PGconn *pg = PQconnectStartParams(with.keywords, with.values, 0);
	arena_free(arena);
	require(pg);
	PQsetErrorVerbosity(pg, PQERRORS_VERBOSE);
	return pg;
}

/* Wait until libpq can go on; false: not in time. */
static bool wait_for_socket(PGconn *pg, PostgresPollingStatusType status, uint64_t deadline_ms)
{
	uint64_t now_ms = time_monotonic_ms();
	struct pollfd socket = {
		.fd = PQsocket(pg),
		.events = status == PGRES_POLLING_READING ? POLLIN : POLLOUT,
	};
	return now_ms < deadline_ms && poll(&socket, 1, (int)(deadline_ms - now_ms)) > 0;
}

/* Not PQconnectdbParams(), whose error message has no SQLSTATE. */
static PGconn *connect_once(const struct pg_target *target, unsigned attempt)
{
	PGconn *pg = pg_target_connect(target, NULL, attempt);
	uint64_t timeout_s = strtoull(target_get(target, "connect_timeout"), NULL, 10);
	uint64_t limit_s = timeout_s ? MIN_OF(timeout_s, TIMEOUT_MAX_S) : TIMEOUT_MAX_S;
	uint64_t deadline_ms = time_monotonic_ms() + limit_s * 1000;
	PostgresPollingStatusType status = PGRES_POLLING_WRITING;
	if (PQstatus(pg) == CONNECTION_BAD)
		return pg;
	while (status != PGRES_POLLING_OK && status != PGRES_POLLING_FAILED &&
	       wait_for_socket(pg, status, deadline_ms))
		status = PQconnectPoll(pg);
	return pg;
}

/* Attempts until libpq has an outcome, each with another host, since one that does not answer keeps
 * libpq from trying the others. */
static PGconn *connect_to_any(const struct pg_target *target)
{
	size_t left = host_count(target);
	for (unsigned attempt = 0;; attempt++) {
		PGconn *pg = connect_once(target, attempt);
		bool is_over = PQstatus(pg) == CONNECTION_OK || PQstatus(pg) == CONNECTION_BAD;
		if (is_over || --left == 0)
			return pg;
		PQfinish(pg);
	}
}

PGconn *pg_target_connect_now(const struct pg_target *target)
{
	PGconn *pg = connect_to_any(target);
	char sqlstate[6];
	pg_fault_of_message(PQerrorMessage(pg), sqlstate);
	if (!target->other || !pg_login_is_refused(sqlstate))
		return pg;
	PQfinish(pg);
	return connect_to_any(target->other);
}

const char *pg_error_line(struct arena *arena, const PGconn *pg)
{
	char *line = arena_strdup(arena, PQerrorMessage(pg));
	char *location = strstr(line, "\nLOCATION:");
	if (location)
		*location = '\0';
	size_t length = strlen(line);
	while (length > 0 && line[length - 1] == '\n')
		line[--length] = '\0';
	for (char *at = line; (at = strpbrk(at, "\n\t"));)
		*at = ' ';
	return line;
}

enum err_code pg_connect_failed(struct arena *arena, const PGconn *pg)
{
	char sqlstate[6];
	const char *reason = pg_error_line(arena, pg);
	const struct fault *fault = pg_fault_of_message(reason, sqlstate);
	pg_fault_report(fault, sqlstate[0] ? sqlstate : NULL, reason);
	return ERR_UNAVAILABLE;
}
