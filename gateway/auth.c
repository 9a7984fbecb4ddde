/* The key cache of one worker, and the look-ups that fill it.
 *
 * An entry is fresh while it is younger than KEY_CACHE_MS and of the present generation; the
 * process-wide generation rises with every revocation heard of, which makes every entry of every
 * worker stale at once. Past REFRESH_MS an entry that is asked for is looked up again in the
 * background, so that a key in steady use never waits. Callers that miss while a look-up of the
 * same key is under way join it. */
#include "auth.h"

#include "key.sql.h"
#include "key_text.h"
#include "log.h"
#include "metrics.h"
#include "pg.h"
#include "redis.h"
#include "request.h"
#include "scope.h"
#include "timefmt.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define REFRESH_MS        3000
#define LOOKUP_TIMEOUT_MS 5000
#define BUCKETS           1024 /* a power of two */
#define ENTRIES_MAX       65536
#define CHANNEL           "expops.keys"

struct auth_wait {
	struct lookup *lookup;
	struct auth_wait *next;
	auth_done_cb *done;
	void *context;
};

/* A query under way, freed with its request. */
struct lookup {
	struct auth *auth;
	uint8_t hash[SHA256_LEN];
	uint64_t generation; /* when it was sent */
	uint64_t sent_at_ms; /* monotonic */
	struct lookup *next;
	struct auth_wait *waits;
	enum err_code code;
	struct entry *found;
};

struct entry {
	uint8_t hash[SHA256_LEN];
	struct entry *next;
	struct identity caller;
	int64_t expires_at_ms; /* 0: never */
	uint64_t read_at_ms;   /* monotonic; the look-up began then */
	uint64_t generation;
	char strings[]; /* repo and interest of `caller` */
};

struct auth {
	struct worker *worker;
	struct entry *buckets[BUCKETS];
	size_t entries;
	struct lookup *lookups;
};

/* Of the whole process: see above. */
static _Atomic uint64_t generation = 1;

static struct metric lookups_total =
	METRIC_COUNTER("expops_key_lookups_total", "Keys asked of the cache by outcome.",
                       "outcome");
static struct metric revocations_heard =
	METRIC_COUNTER("expops_key_revocations_heard_total",
                       "Messages of other replicas that keys have changed.");

static struct entry **bucket_of(struct auth *auth, const uint8_t *hash)
{
	uint32_t head;
	memcpy(&head, hash, sizeof(head));
	return &auth->buckets[head & (BUCKETS - 1)];
}

static struct entry **entry_find(struct auth *auth, const uint8_t *hash)
{
	struct entry **at = bucket_of(auth, hash);
	while (*at && memcmp((*at)->hash, hash, SHA256_LEN) != 0)
		at = &(*at)->next;
	return at;
}

static void entry_drop(struct auth *auth, struct entry **at)
{
	struct entry *entry = *at;
	*at = entry->next;
	auth->entries--;
	free(entry);
}

static bool entry_is_fresh(const struct entry *entry, uint64_t now_ms)
{
	return entry->generation == atomic_load(&generation) &&
	       now_ms - entry->read_at_ms < KEY_CACHE_MS &&
	       (!entry->expires_at_ms || time_now_ms() < entry->expires_at_ms);
}

static void forget_stale(struct auth *auth)
{
	uint64_t now_ms = time_monotonic_ms();
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct entry **at = &auth->buckets[i]; *at;)
			if (entry_is_fresh(*at, now_ms))
				at = &(*at)->next;
			else
				entry_drop(auth, at);
}

static uint64_t scopes_of(struct arena *arena, const char *names)
{
	uint64_t mask = SCOPE_NONE;
	char *rest = arena_strdup(arena, names);
	for (char *name; (name = strsep(&rest, " "));)
		mask |= scope_mask(name);
	return mask;
}

/* Copy `text` behind the entry; NULL stays NULL. */
static const char *keep_string(char **at, const char *text)
{
	if (!text)
		return NULL;
	size_t size = strlen(text) + 1;
	char *kept = memcpy(*at, text, size);
	*at += size;
	return kept;
}

static struct entry *entry_make(struct request *rq, const struct lookup *lookup,
                                const struct pg_rows *rows)
{
	const char *repo = pg_value(rows, 0, 4);
	const char *interest = pg_value(rows, 0, 5);
	size_t extra = (repo ? strlen(repo) + 1 : 0) + (interest ? strlen(interest) + 1 : 0);
	struct entry *entry = calloc(1, sizeof(*entry) + extra);
	require(entry);
	char *strings = entry->strings;
	memcpy(entry->hash, lookup->hash, SHA256_LEN);
	entry->caller = (struct identity){
		.kind = strcmp(pg_value(rows, 0, 2), "automation") == 0 ? KEY_AUTOMATION
	                                                                : KEY_PERSONAL,
		.scopes = scopes_of(rq->arena, pg_value(rows, 0, 3)),
		.repo = keep_string(&strings, repo),
		.interest = keep_string(&strings, interest),
	};
	require(uuid_parse(pg_value(rows, 0, 0), UUID_TEXT_LEN, &entry->caller.account));
	require(uuid_parse(pg_value(rows, 0, 1), UUID_TEXT_LEN, &entry->caller.key_id));
	entry->expires_at_ms = pg_value_int(rows, 0, 6);
	entry->read_at_ms = lookup->sent_at_ms;
	entry->generation = lookup->generation;
	return entry;
}

static void lookup_run(struct request *rq)
{
	struct lookup *lookup = rq->user;
	struct pg_rows *rows = NULL;
	lookup->code = pg_try(rq, &rows, NULL, KEY_LOOKUP_SQL, pg_bytes(lookup->hash, SHA256_LEN));
	if (!lookup->code && pg_empty(rows))
		lookup->code = ERR_UNAUTHENTICATED;
	if (!lookup->code)
		lookup->found = entry_make(rq, lookup, rows);
}

/* Put what was found in the cache, or take what is no longer true out of it. */
static void cache_update(struct auth *auth, struct lookup *lookup)
{
	struct entry **at = entry_find(auth, lookup->hash);
	if (*at && (lookup->found || lookup->code == ERR_UNAUTHENTICATED))
		entry_drop(auth, at);
	if (!lookup->found)
		return;
	if (auth->entries >= ENTRIES_MAX)
		forget_stale(auth);
	struct entry **bucket = bucket_of(auth, lookup->hash);
	lookup->found->next = *bucket;
	*bucket = lookup->found;
	auth->entries++;
}

static void lookup_over(struct request *rq)
{
	struct lookup *lookup = rq->user;
	struct auth *auth = lookup->auth;
	struct lookup **at = &auth->lookups;
	while (*at != lookup)
		at = &(*at)->next;
	*at = lookup->next;
	if (rq->problem.code)
		lookup->code = ERR_UNAVAILABLE;
	cache_update(auth, lookup);
	enum err_code code = lookup->code;
	if (code && code != ERR_UNAUTHENTICATED)
		code = ERR_UNAVAILABLE;
	while (lookup->waits) {
		struct auth_wait *wait = lookup->waits;
		lookup->waits = wait->next;
		if (wait->done)
			wait->done(wait->context, code, code ? NULL : &lookup->found->caller);
		free(wait);
	}
	free(lookup);
}

static struct lookup *lookup_under_way(struct auth *auth, const uint8_t *hash)
{
	struct lookup *lookup = auth->lookups;
	uint64_t present = atomic_load(&generation);
	while (lookup &&
	       (lookup->generation != present || memcmp(lookup->hash, hash, SHA256_LEN) != 0))
		lookup = lookup->next;
	return lookup;
}

/* A look-up of the key, with `wait` (may be NULL) joined to it. It may be over when this
 * returns. */
static void lookup_start(struct auth *auth, const uint8_t *hash, struct auth_wait *wait)
{
	struct lookup *lookup = lookup_under_way(auth, hash);
	bool is_new = !lookup;
	if (is_new) {
		lookup = calloc(1, sizeof(*lookup));
		require(lookup);
		lookup->auth = auth;
		lookup->generation = atomic_load(&generation);
		lookup->sent_at_ms = time_monotonic_ms();
		memcpy(lookup->hash, hash, SHA256_LEN);
		lookup->next = auth->lookups;
		auth->lookups = lookup;
	}
	if (wait) {
		wait->lookup = lookup;
		wait->next = lookup->waits;
		lookup->waits = wait;
	}
	if (is_new)
		request_spawn(auth->worker, "key-lookup", LOOKUP_TIMEOUT_MS, lookup_run,
		              lookup_over, lookup);
}

enum err_code auth_check(struct auth *auth, const char *bearer, struct identity *ret_caller,
                         struct auth_wait **ret_wait, auth_done_cb *done, void *context)
{
	uint8_t hash[SHA256_LEN];
	*ret_wait = NULL;
	if (!bearer || !key_text_is_valid(bearer)) {
		metric_add(&lookups_total, "malformed", NULL, 1);
		return ERR_UNAUTHENTICATED;
	}
	key_text_hash(bearer, hash);
	struct entry *entry = *entry_find(auth, hash);
	uint64_t now_ms = time_monotonic_ms();
	if (entry && entry_is_fresh(entry, now_ms)) {
		metric_add(&lookups_total, "cached", NULL, 1);
		*ret_caller = entry->caller;
		if (now_ms - entry->read_at_ms >= REFRESH_MS && !lookup_under_way(auth, hash))
			lookup_start(auth, hash, NULL);
		return ERR_NONE;
	}
	metric_add(&lookups_total, "asked", NULL, 1);
	struct auth_wait *wait = calloc(1, sizeof(*wait));
	require(wait);
	wait->done = done;
	wait->context = context;
	*ret_wait = wait;
	lookup_start(auth, hash, wait);
	return ERR_NONE;
}

void auth_cancel(struct auth_wait *wait)
{
	wait->done = NULL;
}

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

struct auth *auth_new(struct worker *worker)
{
	struct auth *auth = calloc(1, sizeof(*auth));
	require(auth);
	auth->worker = worker;
	if (worker->index == 0)
		redis_subscribe(worker->redis, CHANNEL, on_message, auth);
	return auth;
}

void auth_free(struct auth *auth)
{
	if (!auth)
		return;
	require(!auth->lookups);
	for (size_t i = 0; i < BUCKETS; i++)
		while (auth->buckets[i])
			entry_drop(auth, &auth->buckets[i]);
	free(auth);
}
