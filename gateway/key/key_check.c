/* Checks of one key by one worker share a running lookup. */
#include "key/key_check.h"

#include "base/timefmt.h"
#include "gateway_process.h"
#include "key/key_lookup.h"
#include "key/key_refresh.h"
#include "key/key_text.h"
#include "key/key_watch.h"
#include "limit/rate_limit.h"
#include "loop/wait.h"
#include "observe/metrics.h"
#include "pacing/client_id.h"
#include "service/process.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define LOOKUP_TIMEOUT_MS 5000

static int64_t lookup_limit;

const struct setting KEY_SETTINGS[] = {
	SETTING_INT(&lookup_limit, "KEY_LOOKUP_LIMIT", "100", 0, 1000000,
                    "Look-ups of unknown API keys a second for each client address (IPv6: each "
                    "/64); 0: no limit."),
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
	bool is_session;
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
	struct key_refresh *refresh;
	struct key_watch *watch; /* of the first worker; NULL in the others */
	LIST_HEAD(, lookup) lookups;
};

METRIC_COUNTER(lookups_total, "expops_key_lookups_total",
               "Keys checked, by outcome: malformed, cached, asked (of the database) "
               "or refused (too many unknown keys).",
               "outcome");

/* --- Lookups in the database ------------------------------------------------------------------ */

static void lookup_run(struct request *rq)
{
	struct lookup *lookup = rq->user;
	lookup->has_begun = true;
	/* Suspend once: the lookup must not end before key_check() has returned. */
	fiber_sleep(rq, 0);
	if (!key_lookup(rq, lookup->is_session, lookup->hash, &lookup->found))
		raise_error(rq, ERR_UNAUTHENTICATED, "no such key");
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
static struct lookup *lookup_start(struct key_checker *checker, bool is_session,
                                   const uint8_t *hash, const struct cache_version *now)
{
	struct arena *arena = arena_new();
	struct lookup *lookup = arena_new_of(arena, struct lookup);
	lookup->checker = checker;
	lookup->arena = arena;
	lookup->is_session = is_session;
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
		client = client_id(query->client);
		enum err_code code = admit_unknown(checker->process, &client);
		if (code)
			return code;
	}
	*ret_lookup = lookup_start(checker, query->is_session, hash, now);
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
	struct cache_version now = key_cache_now(checker->process->keys);
	enum key_found found =
		key_cache_get(checker->process->keys, query->arena, hash, &now, ret_caller);
	if (found >= KEY_FRESH)
		metric_add(&lookups_total, "cached", NULL, 1);
	if (found == KEY_AGING)
		key_refresh_add(checker->refresh, query->is_session, hash);
	if (found >= KEY_FRESH)
		return ERR_NONE;
	enum err_code code = lookup_join(checker, query, hash, &now, found == KEY_ABSENT, &lookup);
	metric_add(&lookups_total, code ? "refused" : "asked", NULL, 1);
	if (!code)
		*ret_wait = wait_add(lookup, done, context);
	return code;
}

void key_check_cancel(struct key_wait *wait)
{
	wait->done = NULL;
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
	checker->refresh = key_refresh_new(worker, checker->process->keys);
	LIST_INIT(&checker->lookups);
	if (worker->index == 0)
		checker->watch = key_watch_new(worker, checker->process->keys);
	return checker;
}

void key_checker_free(struct key_checker *checker)
{
	if (!checker)
		return;
	require(LIST_EMPTY(&checker->lookups));
	key_watch_free(checker->watch);
	key_refresh_free(checker->refresh);
	free(checker);
}
