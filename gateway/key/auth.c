/* The keys that one worker knows, and the look-ups that tell it of others.
 *
 * Past REFRESH_MS a key that is asked for is looked up again in the background, so that one in
 * steady use never waits. Callers that miss while a look-up of the same key is under way join it.
 * The generation of what is known (key_cache.h) is the process's: it rises with every change that is
 * heard of. */
#include "key/auth.h"

#include "base/log.h"
#include "base/metrics.h"
#include "base/scope.h"
#include "base/timefmt.h"
#include "key.sql.h"
#include "key/key_cache.h"
#include "key/key_text.h"
#include "loop/request.h"
#include "pg/pg.h"
#include "redis/redis.h"
#include "service/process.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define REFRESH_MS        3000
#define LOOKUP_TIMEOUT_MS 5000
#define CHANNEL           "expops.keys"

struct auth_wait {
	struct auth_wait *next;
	auth_done_cb *done; /* NULL: cancelled */
	void *context;
};

/* A query under way. Its request may end before request_spawn() returns; it is finished after that,
 * so that nobody is called back from inside auth_check(). */
struct lookup {
	struct auth *auth;
	struct arena *arena; /* holds it */
	uint8_t hash[SHA256_LEN];
	struct key_moment began;
	struct lookup *next;
	struct auth_wait *waits;
	enum err_code code;     /* ERR_NONE, ERR_UNAUTHENTICATED or ERR_UNAVAILABLE */
	struct identity caller; /* with ERR_NONE */
	int64_t expires_at_ms;  /* 0: never */
	bool is_starting;       /* inside request_spawn() */
	bool is_over;
};

struct auth {
	struct worker *worker;
	struct key_cache *cache;
	struct lookup *lookups;
};

static _Atomic uint64_t generation = 1;

static struct metric lookups_total =
	METRIC_COUNTER("expops_key_lookups_total", "Keys asked of the cache by outcome.",
                       "outcome");
static struct metric revocations_heard =
	METRIC_COUNTER("expops_key_revocations_heard_total",
                       "Messages of other replicas that keys have changed.");

static struct key_moment moment_now(void)
{
	return (struct key_moment){atomic_load(&generation), time_monotonic_ms(), time_now_ms()};
}

/* --- Asking the database ---------------------------------------------------------------------- */

static uint64_t scopes_of(struct arena *arena, const char *names)
{
	uint64_t mask = SCOPE_NONE;
	char *rest = arena_strdup(arena, names);
	for (char *name; (name = strsep(&rest, " "));)
		mask |= scope_mask(name);
	return mask;
}

/* What the columns of key_lookup say. */
static void note_found(struct lookup *lookup, const struct pg_rows *rows)
{
	struct arena *arena = lookup->arena;
	lookup->caller = (struct identity){
		.kind = strcmp(pg_value(rows, 0, 2), "automation") == 0 ? KEY_AUTOMATION
	                                                                : KEY_PERSONAL,
		.scopes = scopes_of(arena, pg_value(rows, 0, 3)),
		.repo = arena_strdup(arena, pg_value(rows, 0, 4)),
		.interest = arena_strdup(arena, pg_value(rows, 0, 5)),
	};
	require(uuid_parse(pg_value(rows, 0, 0), UUID_TEXT_LEN, &lookup->caller.account));
	require(uuid_parse(pg_value(rows, 0, 1), UUID_TEXT_LEN, &lookup->caller.key_id));
	lookup->expires_at_ms = pg_value_int(rows, 0, 6);
}

static void lookup_run(struct request *rq)
{
	struct lookup *lookup = rq->user;
	struct pg_rows *rows = NULL;
	lookup->code = pg_try(rq, &rows, NULL, KEY_LOOKUP_SQL, pg_bytes(lookup->hash, SHA256_LEN));
	if (!lookup->code && pg_empty(rows))
		lookup->code = ERR_UNAUTHENTICATED;
	else if (!lookup->code)
		note_found(lookup, rows);
	else
		lookup->code = ERR_UNAVAILABLE;
}

/* Tell the cache and whoever waits. */
static void lookup_finish(struct lookup *lookup)
{
	struct auth *auth = lookup->auth;
	struct lookup **at = &auth->lookups;
	while (*at != lookup)
		at = &(*at)->next;
	*at = lookup->next;
	if (lookup->code == ERR_NONE)
		key_cache_put(auth->cache, lookup->hash, &lookup->began, &lookup->caller,
		              lookup->expires_at_ms);
	else if (lookup->code == ERR_UNAUTHENTICATED)
		key_cache_drop(auth->cache, lookup->hash);
	for (struct auth_wait *wait = lookup->waits; wait; wait = wait->next)
		if (wait->done)
			wait->done(wait->context, lookup->code,
			           lookup->code ? NULL : &lookup->caller);
	arena_free(lookup->arena);
}

static void lookup_over(struct request *rq)
{
	struct lookup *lookup = rq->user;
	if (rq->problem.code)
		lookup->code = ERR_UNAVAILABLE;
	lookup->is_over = true;
	if (!lookup->is_starting)
		lookup_finish(lookup);
}

static struct lookup *lookup_under_way(const struct auth *auth, const uint8_t *hash)
{
	struct lookup *lookup = auth->lookups;
	uint64_t present = atomic_load(&generation);
	while (lookup &&
	       (lookup->began.generation != present || memcmp(lookup->hash, hash, SHA256_LEN) != 0))
		lookup = lookup->next;
	return lookup;
}

/* Ask the database. NULL: it did not have to be waited for; the answer is *ret_code, and in the
 * cache. */
static struct lookup *lookup_start(struct auth *auth, const uint8_t *hash,
                                   const struct key_moment *now, enum err_code *ret_code)
{
	struct arena *arena = arena_new();
	struct lookup *lookup = arena_new_of(arena, struct lookup);
	lookup->auth = auth;
	lookup->arena = arena;
	lookup->began = *now;
	memcpy(lookup->hash, hash, SHA256_LEN);
	lookup->next = auth->lookups;
	auth->lookups = lookup;
	lookup->is_starting = true;
	request_spawn(auth->worker, "key-lookup", LOOKUP_TIMEOUT_MS, lookup_run, lookup_over,
	              lookup);
	lookup->is_starting = false;
	if (!lookup->is_over)
		return lookup;
	*ret_code = lookup->code;
	lookup_finish(lookup);
	return NULL;
}

/* --- Callers ---------------------------------------------------------------------------------- */

static struct auth_wait *wait_new(struct lookup *lookup, auth_done_cb *done, void *context)
{
	struct auth_wait *wait = arena_new_of(lookup->arena, struct auth_wait);
	*wait = (struct auth_wait){lookup->waits, done, context};
	lookup->waits = wait;
	return wait;
}

enum err_code auth_check(struct auth *auth, const char *bearer, struct identity *ret_caller,
                         struct auth_wait **ret_wait, auth_done_cb *done, void *context)
{
	uint8_t hash[SHA256_LEN];
	struct lookup *lookup = NULL;
	enum err_code code = ERR_UNAVAILABLE;
	*ret_wait = NULL;
	if (!bearer || !key_text_is_valid(bearer)) {
		metric_add(&lookups_total, "malformed", NULL, 1);
		return ERR_UNAUTHENTICATED;
	}
	key_text_hash(bearer, hash);
	struct key_moment now = moment_now();
	const struct identity *known = key_cache_get(auth->cache, hash, &now, REFRESH_MS);
	if (!known) {
		lookup = lookup_under_way(auth, hash);
		if (!lookup)
			lookup = lookup_start(auth, hash, &now, &code);
		known = key_cache_get(auth->cache, hash, &now, KEY_CACHE_MS);
	}
	metric_add(&lookups_total, known ? "cached" : "asked", NULL, 1);
	if (known) {
		*ret_caller = *known;
		return ERR_NONE;
	}
	if (lookup)
		*ret_wait = wait_new(lookup, done, context);
	else if (!code) /* found, and over by our own clock */
		code = ERR_UNAUTHENTICATED;
	return lookup ? ERR_NONE : code;
}

void auth_cancel(struct auth_wait *wait)
{
	wait->done = NULL;
}

/* --- Changes ---------------------------------------------------------------------------------- */

static void invalidate(void *ptr)
{
	struct worker *worker = ptr;
	atomic_fetch_add(&generation, 1);
	redis_publish(worker->redis, CHANNEL, worker->process->instance);
}

void auth_commit(struct request *rq)
{
	arena_on_free(rq->arena, invalidate, rq->worker);
	pg_commit(rq);
	arena_forget(rq->arena, invalidate, rq->worker);
	invalidate(rq->worker);
}

/* A lost connection may have lost messages: nothing that was read before is trusted after. */
static void on_message(void *context, const char *message, size_t length, bool is_up)
{
	const struct auth *auth = context;
	const char *own = auth->worker->process->instance;
	(void)is_up;
	if (message && length == strlen(own) && memcmp(message, own, length) == 0)
		return;
	atomic_fetch_add(&generation, 1);
	if (message)
		metric_add(&revocations_heard, NULL, NULL, 1);
}

void auth_register(void)
{
	metric_register(&lookups_total);
	metric_register(&revocations_heard);
}

/* --- Life ------------------------------------------------------------------------------------- */

struct auth *auth_new(struct worker *worker)
{
	struct auth *auth = calloc(1, sizeof(*auth));
	require(auth);
	auth->worker = worker;
	auth->cache = key_cache_new();
	if (worker->index == 0)
		redis_subscribe(worker->redis, CHANNEL, on_message, auth);
	return auth;
}

void auth_free(struct auth *auth)
{
	if (!auth)
		return;
	require(!auth->lookups);
	key_cache_free(auth->cache);
	free(auth);
}
