/* Checks of one key by one worker share a running lookup. */
#include "key/key_check.h"

#include "base/timefmt.h"
#include "crypto/scope.h"
#include "gateway_process.h"
#include "key.sql.h"
#include "key/key_text.h"
#include "key/rate_limit.h"
#include "key/role.h"
#include "loop/wait.h"
#include "observe/log.h"
#include "observe/metrics.h"
#include "pg/pg.h"
#include "redis/redis.h"
#include "service/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define LOOKUP_TIMEOUT_MS 5000
#define CHANNEL           "keys.gateway"
#define CONNECT_MS        3000 /* of a command, to Redis */
#define CONNECT_POLL_MS   5

static int64_t lookup_limit;
static bool names_persons;

const struct setting KEY_SETTINGS[] = {
	SETTING_INT(&lookup_limit, "KEY_LOOKUP_LIMIT", "100", 0, 1000000,
                    "Look-ups of unknown API keys a second for each client address (IPv6: each "
                    "/64); 0: no limit."),
	SETTING_BOOL(&names_persons, "IDENTITY_PERSON", "false",
                     "Name the person behind a key or session to the services: set it once none of "
                     "a version before 0.2.0 runs."),
	SETTING_END,
};

struct key_wait {
	SLIST_ENTRY(key_wait) link;
	key_check_cb *done; /* NULL: cancelled */
	void *context;
};

/* A running query for one key, in its own arena. */
struct lookup {
	LIST_ENTRY(lookup) link;
	struct key_checker *checker;
	struct arena *arena;
	uint8_t hash[SHA256_LEN];
	const char *sql;            /* of a key, or of a session */
	bool has_begun;             /* lookup_run() was called */
	bool is_limited;            /* it counts in the limits of unknown keys */
	struct uuid client;         /* whose token it took, if it is limited */
	struct cache_version began; /* when the lookup was started */
	SLIST_HEAD(, key_wait) waits;
	struct cached_key found; /* valid when the query found the key */
};

struct key_checker {
	struct worker *worker;
	struct gateway_process *process;
	LIST_HEAD(, lookup) lookups;
};

METRIC_COUNTER(lookups_total, "expops_key_lookups_total",
               "Keys checked, by outcome: malformed, cached, asked (of the database) "
               "or refused (too many unknown keys).",
               "outcome");
METRIC_COUNTER(revocations_heard, "expops_key_revocations_heard_total",
               "Messages of other replicas that a key has changed.");

static struct cache_version version_now(const struct key_checker *checker)
{
	return (struct cache_version){
		.changes = key_cache_changes(checker->process->keys),
		.monotonic_ms = time_monotonic_ms(),
		.unix_ms = time_now_ms(),
	};
}

/* --- Lookups in the database ------------------------------------------------------------------ */

/* What the role of its person allows a key. */
static uint64_t scopes_of_role(const struct pg_rows *rows)
{
	const char *role = pg_get(rows, 0, "role");
	return role ? role_scopes(role, pg_get_bool(rows, 0, "is_operator")) : SCOPE_ALL;
}

static void read_id(const struct pg_rows *rows, const char *column, struct uuid *ret_id)
{
	require(uuid_parse(pg_get(rows, 0, column), UUID_TEXT_LEN, ret_id));
}

static void read_row(struct lookup *lookup, const struct pg_rows *rows)
{
	struct arena *arena = lookup->arena;
	struct cached_key *found = &lookup->found;
	found->caller = (struct identity){
		.kind = strcmp(pg_get(rows, 0, "kind"), "automation") == 0 ? KEY_AUTOMATION
	                                                                   : KEY_PERSONAL,
		.scopes = scope_masks(pg_get(rows, 0, "scopes")) & scopes_of_role(rows),
		.repo = arena_strdup(arena, pg_get(rows, 0, "repo")),
		.interest = arena_strdup(arena, pg_get(rows, 0, "interest_id")),
		.is_repo_verified = pg_get_bool(rows, 0, "repo_verified"),
	};
	read_id(rows, "account_id", &found->caller.account);
	read_id(rows, "id", &found->caller.key_id);
	read_id(rows, "key_account_id", &found->key_account);
	if (pg_get(rows, 0, "person_id"))
		read_id(rows, "person_id", &found->person);
	if (names_persons)
		found->caller.person = found->person;
	found->expires_at_ms = pg_get_int(rows, 0, "expires_at_ms");
}

static void lookup_run(struct request *rq)
{
	struct lookup *lookup = rq->user;
	lookup->has_begun = true;
	/* Suspend once: the lookup must not end before key_check() has returned. */
	fiber_sleep(rq, 0);
	struct pg_rows *rows = pg_query(rq, lookup->sql, pg_bytes(lookup->hash, SHA256_LEN));
	if (pg_empty(rows))
		raise_error(rq, ERR_UNAUTHENTICATED, "no such key");
	read_row(lookup, rows);
}

/* End what admit_unknown() began. */
static void release_unknown(struct gateway_process *gateway, const struct uuid *client,
                            enum err_code code)
{
	atomic_fetch_sub(&gateway->unknown_lookups, 1);
	if (code != ERR_UNAUTHENTICATED)
		rate_limiter_return(gateway->lookups, client);
}

static void lookup_done(struct request *rq)
{
	struct lookup *lookup = rq->user;
	struct gateway_process *gateway = lookup->checker->process;
	enum err_code code = rq->problem.code;
	if (!lookup->has_begun) /* lookup_start() frees it */
		return;
	if (lookup->is_limited)
		release_unknown(gateway, &lookup->client, code);
	if (!code)
		key_cache_put(gateway->keys, lookup->hash, &lookup->began, &lookup->found);
	else if (code == ERR_UNAUTHENTICATED)
		key_cache_drop(gateway->keys, lookup->hash);
	else
		code = ERR_UNAVAILABLE;
	LIST_REMOVE(lookup, link);
	struct key_wait *wait;
	SLIST_FOREACH (wait, &lookup->waits, link)
		if (wait->done)
			wait->done(wait->context, code, code ? NULL : &lookup->found.caller);
	arena_free(lookup->arena);
}

/* A running lookup of the key that began after the last change of any. NULL: there is none. */
static struct lookup *lookup_find(const struct key_checker *checker, const uint8_t *hash,
                                  const struct cache_version *now)
{
	struct lookup *lookup;
	LIST_FOREACH (lookup, &checker->lookups, link)
		if (lookup->began.changes == now->changes &&
		    memcmp(lookup->hash, hash, SHA256_LEN) == 0)
			break;
	return lookup;
}

/* Whether a key that was never valid, as far as this process knows, may be looked up now. If so, it
 * counts until release_unknown(). */
static enum err_code admit_unknown(struct gateway_process *gateway, const struct uuid *client)
{
	if (atomic_fetch_add(&gateway->unknown_lookups, 1) >= KEY_LOOKUPS_MAX) {
		atomic_fetch_sub(&gateway->unknown_lookups, 1);
		return ERR_UNAVAILABLE;
	}
	if (rate_limiter_take(gateway->lookups, client, time_monotonic_us()).is_allowed)
		return ERR_NONE;
	atomic_fetch_sub(&gateway->unknown_lookups, 1);
	return ERR_RATE_LIMITED;
}

/* NULL: there is no memory for its fiber. */
static struct lookup *lookup_start(struct key_checker *checker, const char *sql,
                                   const uint8_t *hash, const struct cache_version *now)
{
	struct arena *arena = arena_new();
	struct lookup *lookup = arena_new_of(arena, struct lookup);
	lookup->checker = checker;
	lookup->arena = arena;
	lookup->sql = sql;
	lookup->began = *now;
	memcpy(lookup->hash, hash, SHA256_LEN);
	SLIST_INIT(&lookup->waits);
	LIST_INSERT_HEAD(&checker->lookups, lookup, link);
	request_spawn(checker->worker, "key-lookup", LOOKUP_TIMEOUT_MS, lookup_run, lookup_done,
	              lookup);
	if (lookup->has_begun)
		return lookup;
	LIST_REMOVE(lookup, link);
	arena_free(arena);
	return NULL;
}

/* --- The check -------------------------------------------------------------------------------- */

/* The running lookup of the key; if there is none, a new one, which a key that was never valid may
 * be refused. */
static enum err_code lookup_join(struct key_checker *checker, const struct key_query *query,
                                 const uint8_t *hash, const struct cache_version *now,
                                 bool is_unknown, struct lookup **ret_lookup)
{
	struct uuid client = {{0}};
	*ret_lookup = lookup_find(checker, hash, now);
	if (*ret_lookup)
		return ERR_NONE;
	if (is_unknown) {
		client = rate_client_bucket(query->client);
		enum err_code code = admit_unknown(checker->process, &client);
		if (code)
			return code;
	}
	*ret_lookup = lookup_start(checker, query->is_session ? SESSION_LOOKUP_SQL : KEY_LOOKUP_SQL,
	                           hash, now);
	if (!*ret_lookup) {
		if (is_unknown)
			release_unknown(checker->process, &client, ERR_UNAVAILABLE);
		return ERR_UNAVAILABLE;
	}
	(*ret_lookup)->is_limited = is_unknown;
	(*ret_lookup)->client = client;
	return ERR_NONE;
}

static struct key_wait *wait_add(struct lookup *lookup, key_check_cb *done, void *context)
{
	struct key_wait *wait = arena_new_of(lookup->arena, struct key_wait);
	wait->done = done;
	wait->context = context;
	SLIST_INSERT_HEAD(&lookup->waits, wait, link);
	return wait;
}

static bool is_well_formed(const struct key_query *query)
{
	return query->is_session ? session_text_is_valid(query->text)
	                         : key_text_is_valid(query->text);
}

enum err_code key_check(struct key_checker *checker, const struct key_query *query,
                        struct identity *ret_caller, struct key_wait **ret_wait, key_check_cb *done,
                        void *context)
{
	uint8_t hash[SHA256_LEN];
	struct lookup *lookup;
	*ret_wait = NULL;
	if (!is_well_formed(query)) {
		metric_add(&lookups_total, "malformed", NULL, 1);
		return ERR_UNAUTHENTICATED;
	}
	key_text_hash(query->text, hash);
	struct cache_version now = version_now(checker);
	enum key_found found =
		key_cache_get(checker->process->keys, query->arena, hash, &now, ret_caller);
	if (found >= KEY_FRESH)
		metric_add(&lookups_total, "cached", NULL, 1);
	if (found == KEY_FRESH)
		return ERR_NONE;
	enum err_code code = lookup_join(checker, query, hash, &now, found == KEY_ABSENT, &lookup);
	if (found == KEY_AGING)
		return ERR_NONE;
	metric_add(&lookups_total, code ? "refused" : "asked", NULL, 1);
	if (!code)
		*ret_wait = wait_add(lookup, done, context);
	return code;
}

void key_check_cancel(struct key_wait *wait)
{
	wait->done = NULL;
}

/* --- Changes ---------------------------------------------------------------------------------- */

/* A change that is being committed. */
struct key_change {
	struct worker *worker;
	const struct uuid *subject; /* as in key_cache_change(); in the arena of the request */
	const char *message;        /* for other replicas */
};

static void invalidate(void *ptr)
{
	const struct key_change *change = ptr;
	struct worker *worker = change->worker;
	struct gateway_process *process = worker->process->user;
	if (process)
		key_cache_change(process->keys, change->subject);
	redis_publish(worker->redis, CHANNEL, change->message);
}

/* The sender, and the subject if there is one, as "SENDER SUBJECT". A version before 0.2.0 takes it
 * for a change of whomever. */
static const char *message_of(struct request *rq, const struct uuid *subject)
{
	const char *sender = rq->worker->process->instance;
	char id[UUID_TEXT_LEN + 1];
	if (!subject)
		return sender;
	uuid_format(subject, id);
	return arena_printf(rq->arena, "%s %s", sender, id);
}

/* Wait until the connection to Redis is there, which a command begins now. */
static void wait_connected(struct request *rq)
{
	uint64_t end_ms = time_monotonic_ms() + CONNECT_MS;
	while (!redis_is_ready(rq->worker->redis) && time_monotonic_ms() < end_ms)
		fiber_sleep(rq, CONNECT_POLL_MS);
}

/* Notify the replicas in a command. */
static void notify(struct request *rq, const char *message)
{
	const char *const argv[] = {"PUBLISH", CHANNEL, message};
	struct redis_value *value;
	wait_connected(rq);
	if (redis_try(rq, &value, argv, ARRAY_LEN(argv)) || value->type == REDIS_ERROR)
		fprintf(stderr,
		        "Redis is not available: replicas may accept what has ended for "
		        "up to %d s\n",
		        KEY_CACHE_MS / 1000);
}

void key_change_commit(struct request *rq, const struct uuid *subject)
{
	struct key_change *change = arena_new_of(rq->arena, struct key_change);
	if (subject)
		subject = arena_memdup(rq->arena, subject, sizeof(*subject));
	*change = (struct key_change){rq->worker, subject, message_of(rq, subject)};
	/* If the commit raises, the arena's release invalidates the caches. */
	arena_on_free(rq->arena, invalidate, change);
	pg_commit(rq);
	arena_cancel_on_free(rq->arena, invalidate, change);
	if (rq->worker->process->user)
		invalidate(change);
	else
		notify(rq, change->message);
}

static bool is_own(const struct key_checker *checker, const char *sender, size_t length)
{
	const char *own = checker->worker->process->instance;
	return length == strlen(own) && memcmp(sender, own, length) == 0;
}

/* `message` is NULL when the subscription was lost or renewed. Messages may have been missed then,
 * so every cached key becomes invalid. */
static void on_message(void *context, const char *message, size_t length, bool is_up attr_unused)
{
	const struct key_checker *checker = context;
	const char *space = message ? memchr(message, ' ', length) : NULL;
	size_t sender_length = space ? (size_t)(space - message) : length;
	struct uuid subject;
	bool has_subject = space && uuid_parse(space + 1, length - sender_length - 1, &subject);
	if (message && is_own(checker, message, sender_length))
		return;
	key_cache_change(checker->process->keys, has_subject ? &subject : NULL);
	if (message)
		metric_add(&revocations_heard, NULL, NULL, 1);
}

/* --- The checker ------------------------------------------------------------------------------ */

void key_checkers_start(struct gateway_process *gateway)
{
	gateway->keys = key_cache_new();
	gateway->lookups = rate_limiter_new(lookup_limit);
}

void key_checkers_stop(struct gateway_process *gateway)
{
	key_cache_free(gateway->keys);
	rate_limiter_free(gateway->lookups);
}

struct key_checker *key_checker_new(struct worker *worker)
{
	struct key_checker *checker = calloc(1, sizeof(*checker));
	require(checker);
	checker->worker = worker;
	checker->process = worker->process->user;
	LIST_INIT(&checker->lookups);
	if (worker->index == 0)
		redis_subscribe(worker->redis, CHANNEL, on_message, checker);
	return checker;
}

void key_checker_free(struct key_checker *checker)
{
	if (!checker)
		return;
	require(LIST_EMPTY(&checker->lookups));
	free(checker);
}
