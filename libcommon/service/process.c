#include "service/process.h"

#include "base/address.h"
#include "base/ip.h"
#include "base/url.h"
#include "http/api.h"
#include "pg/target.h"
#include "redis/url.h"
#include "tls/trust.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEAL_SECRET_MIN 32

struct process_settings process_settings;

#define LOG_LEVEL                                                      \
	SETTING_TEXT(&process_settings.log_level, "LOG_LEVEL", "info", \
	             "debug, info, warn or error; per group as in info,pg=debug.")

const struct setting OUTSIDE_SETTINGS[] = {LOG_LEVEL, SETTING_END};

const struct setting PROCESS_SETTINGS[] = {
	SETTING_TEXT(&process_settings.roles, "ROLES", "http,jobs",
                     "What this process does: http, answer requests; jobs, run tasks, events and "
                     "other background work; or both."),
	SETTING_TEXT(&process_settings.listen, "LISTEN", "0.0.0.0:8080",
                     "Public listener: host:port or unix:/path; the gateway also takes "
                     "https://host:port, and several addresses, separated by commas."),
	SETTING_TEXT(&process_settings.admin_listen, "ADMIN_LISTEN", "127.0.0.1:9090",
                     "Listener of /healthz, /readyz and /metrics: host:port or unix:/path."),
	SETTING_SECRET(&process_settings.database_url, "DATABASE_URL", NULL,
                       "Postgres, as the role that owns this process's schema: "
                       "postgres://role:password@host/database; a second URL behind a space has "
                       "the other password while it is replaced."),
	SETTING_SECRET(&process_settings.database_direct_url, "DATABASE_DIRECT_URL", "",
                       "The same database without a pooler, for LISTEN and migrations; empty: "
                       "DATABASE_URL."),
	SETTING_BOOL(&process_settings.pg_prepare, "PG_PREPARE", "on",
                     "Use prepared statements; off for PgBouncer before 1.21."),
	SETTING_INT(
		&process_settings.slow_ms, "SLOW_MS", "500", 0, 600000,
		"Milliseconds from which a statement is logged as slow, with its name and, once a "
		"minute, its plan; 0: none is."),
	SETTING_SECRET(&process_settings.redis_url, "REDIS_URL", NULL,
                       "Redis: redis://user:password@host:port/db, or rediss:// for TLS."),
	SETTING_TEXT(&process_settings.redis_ca_file, "REDIS_CA_FILE",
                     "/etc/ssl/certs/ca-certificates.crt",
                     "The authorities that may sign the certificate of Redis, in PEM; the default "
                     "is those of the system. Read again when it has changed."),
	SETTING_TEXT(&process_settings.redis_certificate_file, "REDIS_CERT_FILE", "",
                     "The certificate, with its chain, that the process shows to a Redis that asks "
                     "for one, in PEM. Read again when it has changed."),
	SETTING_TEXT(&process_settings.redis_key_file, "REDIS_KEY_FILE", "",
                     "The private key of REDIS_CERT_FILE; it may not be open to other users than "
                     "its owner and group."),
	SETTING_SECRET(&process_settings.sign_secrets, "IDENTITY_SIGN_SECRETS", "",
                       "For each process that this one calls, the secret that signs the "
                       "caller's identity: svc-search=SECRET svc-interests=SECRET; 32 "
                       "characters or more each."),
	SETTING_SECRET(&process_settings.verify_secrets, "IDENTITY_VERIFY_SECRETS", "",
                       "For each process that calls this one, the secrets that verify it: "
                       "gateway=SECRET,NEXT svc-interests=SECRET."),
	SETTING_SECRET(&process_settings.seal_secrets, "SEAL_SECRETS", NULL,
                       "Encrypt the answers that are stored for an Idempotency-Key: SECRET or "
                       "SECRET,OLDER, 32 characters or more each; the first encrypts, all "
                       "decrypt; the same in all replicas of this process only."),
	SETTING_BOOL(&process_settings.compresses_answers, "COMPRESS_ANSWERS", "false",
                     "Compress the answers that are stored for an Idempotency-Key; set it once no "
                     "process of 0.1.0 is left, which cannot read them."),
	SETTING_TEXT(&process_settings.public_url, "PUBLIC_URL", "",
                     "Address of the gateway as users, workflows and the code host reach it, such "
                     "as https://expops.example.org; empty: nothing can be provisioned, and the "
                     "code-host app cannot be made."),
	SETTING_TEXT(&process_settings.fetch_allow, "FETCH_ALLOW", "",
                     "Private networks that redirects and URLs of users may lead to: addresses and "
                     "networks such as 10.0.0.0/8."),
	SETTING_INT(
		&process_settings.workers, "WORKERS", "0", 0, 256,
		"Event loops, each with a thread; 0: one per usable processor, at most one for two "
		"connections."),
	LOG_LEVEL,
	SETTING_INT(&process_settings.pg_connections, "PG_CONNECTIONS", "0", 0, 4096,
                    "Postgres connections of this process; 0: 12, or 2 for each of WORKERS and 4."),
	SETTING_MS(
		&process_settings.pg_pool_wait_ms, "PG_POOL_WAIT", "2s", 100, 60000,
		"How long a statement waits for a connection before its request is answered 503."),
	SETTING_INT(&process_settings.job_slots, "JOB_SLOTS", "4", 1, 256,
                    "Jobs that run at the same time in this process."),
	SETTING_INT(&process_settings.tasks_pending_max, "TASKS_PENDING_MAX", "5000", 1, 1000000,
                    "Tasks of one account that may wait; more are answered 409."),
	SETTING_INT(&process_settings.task_retention_days, "TASK_RETENTION", "30", 1, 36500,
                    "Days for which ended tasks are kept."),
	SETTING_MS(&process_settings.job_lease_ms, "JOB_LEASE", "30s", 1000, 3600000,
                   "Time after which another process takes over the jobs of a dead one."),
	SETTING_MS(&process_settings.request_timeout_ms, "REQUEST_TIMEOUT", "30s", 100, 600000,
                   "Deadline of a request in this process, from the end of its body."),
	SETTING_MS(
		&process_settings.drain_delay_ms, "DRAIN_DELAY", "5s", 0, 600000,
		"How long connections are at least accepted after SIGTERM, while /readyz fails."),
	SETTING_MS(&process_settings.drain_delay_max_ms, "DRAIN_DELAY_MAX", "15s", 0, 600000,
                   "How long they are accepted at most, while requests still come."),
	SETTING_MS(&process_settings.drain_timeout_ms, "DRAIN_TIMEOUT", "30s", 100, 600000,
                   "How long requests and jobs may go on when none are accepted any more."),
	SETTING_BYTES(&process_settings.head_max_bytes, "HEAD_MAX", "64KiB", 1024, 1048576,
                      "Largest head of a request."),
	SETTING_MS(&process_settings.head_timeout_ms, "HEAD_TIMEOUT", "10s", 100, 600000,
                   "From a request's first byte to the end of its head."),
	SETTING_MEMORY(&process_settings.head_memory_bytes, "HEAD_MEMORY", "16MiB", 1 << 20,
                       INT64_C(1) << 40, 1,
                       "Memory for the heads of all requests together, of those over 4 KiB, "
                       "and for what has been read of bodies that wait."),
	SETTING_MS(&process_settings.body_pause_ms, "BODY_PAUSE", "30s", 100, 600000,
                   "Longest pause between two pieces of a body, and in reading an answer."),
	SETTING_MS(&process_settings.body_timeout_ms, "BODY_TIMEOUT", "5m", 100, 86400000,
                   "How long the client may take to send a body."),
	SETTING_BYTES(&process_settings.body_rate_min_bytes, "BODY_RATE_MIN", "4KiB", 0, 1 << 30,
                      "Least bytes a second that a client sends of a body and reads of an answer, "
                      "after the first BODY_PAUSE; 0: any."),
	SETTING_MEMORY(
		&process_settings.body_memory_bytes, "BODY_MEMORY", "128MiB", 16 << 20,
		INT64_C(1) << 40, 1,
		"Memory for the bodies of all requests together, and for what is parsed from them, "
		"and half as much for those without a key; more are answered 503."),
	SETTING_MEMORY(&process_settings.answer_memory_bytes, "ANSWER_MEMORY", "64MiB", 16 << 20,
                       INT64_C(1) << 40, 2,
                       "Memory for large answers that clients have not read yet, twice: of this "
                       "process's own, and of unsent bytes."),
	SETTING_MEMORY(
		&process_settings.fetch_memory_bytes, "FETCH_MEMORY", "32MiB", 1 << 20,
		INT64_C(1) << 40, 1,
		"Memory for calls of URLs that users named, while clients wait for them, and for "
		"their answers; more are answered 503."),
	SETTING_INT(&process_settings.connections_max, "CONNECTIONS_MAX", "0", 0, 1000000,
                    "Client connections of this process; 0: as the limit of open files allows."),
	SETTING_MS(&process_settings.idle_timeout_ms, "IDLE_TIMEOUT", "60s", 100, 3600000,
                   "How long a connection may wait for its next request."),
	SETTING_TEXT(&process_settings.service_url[API_GATEWAY], "GATEWAY_URL", "",
                     "gateway: http://host:port or unix:/path, past its load balancer; empty: not "
                     "deployed."),
#define SERVICE_URL(symbol, process, setting)                                  \
	SETTING_TEXT(&process_settings.service_url[API_##symbol], setting, "", \
	             process ": http://host:port or unix:/path; empty: not deployed."),
	API_SERVICES(SERVICE_URL)
#undef SERVICE_URL
		SETTING_END,
};

static bool is_roles(const char *text)
{
	struct roles roles;
	return roles_parse(text, &roles) == ERR_NONE;
}

static bool is_address(const char *text)
{
	struct arena *arena = arena_new();
	struct address address;
	bool is_valid = address_parse(arena, text, &address) == ERR_NONE;
	arena_free(arena);
	return is_valid;
}

/* How many addresses of LISTEN there are, and how many of them are served by TLS; false: it is no
 * list of addresses. */
static bool count_listens(const char *text, size_t *ret_count, size_t *ret_tls_count)
{
	struct arena *arena = arena_new();
	struct listen_address addresses[LISTEN_MAX];
	bool is_valid = listen_addresses_parse(arena, text, addresses, ret_count) == ERR_NONE;
	*ret_tls_count = 0;
	for (size_t i = 0; i < *ret_count && is_valid; i++)
		*ret_tls_count += addresses[i].is_tls;
	arena_free(arena);
	return is_valid;
}

static bool is_listen_list(const char *text)
{
	size_t count, tls_count;
	return count_listens(text, &count, &tls_count);
}

bool process_listens_by_tls(const struct process_settings *settings)
{
	size_t count, tls_count;
	return count_listens(settings->listen, &count, &tls_count) && tls_count > 0;
}

bool process_listens_by_tls_only(const struct process_settings *settings)
{
	size_t count, tls_count;
	return count_listens(settings->listen, &count, &tls_count) && tls_count == count;
}

static bool is_address_or_empty(const char *text)
{
	return !*text || is_address(text);
}

static bool is_postgres_url(const char *text)
{
	struct pg_target *target = pg_target_new(text);
	pg_target_free(target);
	return target;
}

static bool is_postgres_url_or_empty(const char *text)
{
	return !*text || is_postgres_url(text);
}

static bool is_redis_url(const char *text)
{
	struct redis_url url;
	if (redis_url_parse(text, &url))
		return false;
	redis_url_free(&url);
	return true;
}

static bool is_network_list(const char *text)
{
	struct arena *arena = arena_new();
	const struct ip_networks *networks;
	bool is_valid = ip_networks_parse(arena, text, NULL, NULL, &networks) == ERR_NONE;
	arena_free(arena);
	return is_valid;
}

static bool is_secret_list(const char *text)
{
	for (;; text++) {
		size_t length = strcspn(text, ",");
		if (length < SEAL_SECRET_MIN)
			return false;
		text += length;
		if (!*text)
			return true;
	}
}

static bool is_public_url(const char *text)
{
	const char *why;
	return url_is_link_or_empty(text, strlen(text), &why) && !strpbrk(text, "?#");
}

#define SERVICE_FORM "http://host:port or unix:/path"

/* Messages name the variable and not its value: some values are secrets. */
static const struct {
	const char *const *value;
	const char *name;
	bool (*is_valid)(const char *text);
	const char *expected;
} CHECKS[] = {
	{&process_settings.roles, "ROLES", is_roles, "http, jobs or http,jobs"},
	{&process_settings.listen, "LISTEN", is_listen_list,
         "host:port, https://host:port or unix:/path, or several with commas between them"},
	{&process_settings.admin_listen, "ADMIN_LISTEN", is_address, "host:port or unix:/path"},
	{&process_settings.database_url, "DATABASE_URL", is_postgres_url,
         "postgres://role:password@host/database"},
	{&process_settings.database_direct_url, "DATABASE_DIRECT_URL", is_postgres_url_or_empty,
         "postgres://role:password@host/database"},
	{&process_settings.public_url, "PUBLIC_URL", is_public_url,
         "an http or https URL without query and fragment"},
	{&process_settings.fetch_allow, "FETCH_ALLOW", is_network_list,
         "a list of addresses and networks"},
	{&process_settings.redis_url, "REDIS_URL", is_redis_url, "redis[s]://user:password@host"},
	{&process_settings.seal_secrets, "SEAL_SECRETS", is_secret_list,
         "secrets of 32 characters or more, separated by commas"},
	{&process_settings.service_url[API_GATEWAY], "GATEWAY_URL", is_address_or_empty,
         SERVICE_FORM},
#define SERVICE_URL_CHECK(symbol, process, setting) \
	{&process_settings.service_url[API_##symbol], setting, is_address_or_empty, SERVICE_FORM},
	API_SERVICES(SERVICE_URL_CHECK)
#undef SERVICE_URL_CHECK
};

static enum err_code check(const char *name, const char *value, bool (*is_valid)(const char *text),
                           const char *expected)
{
	if (is_valid(value))
		return ERR_NONE;
	fprintf(stderr, "%s: must be %s\n", name, expected);
	return ERR_INVALID;
}

const char *process_direct_url(const struct process_settings *settings)
{
	return *settings->database_direct_url ? settings->database_direct_url
	                                      : settings->database_url;
}

/* Without slashes at its end; until the next call. */
static const char *trim_slashes(const char *url)
{
	static char *trimmed;
	size_t length = strlen(url);
	while (length > 0 && url[length - 1] == '/')
		length--;
	free(trimmed);
	trimmed = strndup(url, length);
	require(trimmed);
	return trimmed;
}

static bool is_redis_by_tls(const char *text)
{
	struct redis_url url;
	require(!redis_url_parse(text, &url));
	bool is_tls = url.is_tls;
	redis_url_free(&url);
	return is_tls;
}

enum err_code process_trust_redis(const struct process_settings *settings,
                                  struct tls_trust **ret_trust)
{
	*ret_trust = NULL;
	if (!is_redis_by_tls(settings->redis_url))
		return ERR_NONE;
	if (!settings->redis_certificate_file[0] != !settings->redis_key_file[0]) {
		fprintf(stderr, "REDIS_CERT_FILE, REDIS_KEY_FILE: must be set together\n");
		return ERR_INVALID;
	}
	const struct tls_trust_files files = {
		.setting = "REDIS_CA_FILE",
		.file = settings->redis_ca_file,
		.own = {.certificate_setting = "REDIS_CERT_FILE",
	                .key_setting = "REDIS_KEY_FILE",
	                .certificate_file = settings->redis_certificate_file,
	                .key_file = settings->redis_key_file},
	};
	struct arena *arena = arena_new();
	const char *reason;
	enum err_code code = tls_trust_new(&files, arena, ret_trust, &reason);
	if (code)
		fprintf(stderr, "%s\n", reason);
	arena_free(arena);
	return code;
}

enum err_code process_settings_load(void)
{
	enum err_code code = config_load(PROCESS_SETTINGS);
	for (size_t i = 0; !code && i < ARRAY_LEN(CHECKS); i++)
		code = check(CHECKS[i].name, *CHECKS[i].value, CHECKS[i].is_valid,
		             CHECKS[i].expected);
	if (!code)
		process_settings.public_url = trim_slashes(process_settings.public_url);
	return code;
}
