#include "key/key_refresh.h"

#include "base/base.h"
#include "key/key_lookup.h"
#include "loop/wait.h"

#include <stdlib.h>
#include <string.h>

#define GATHER_MS  100
#define TIMEOUT_MS (GATHER_MS + 5000)
#define ROUND_MAX  256 /* keys */

/* Keys that are read together. */
struct round {
	struct key_refresh *refresh;
	bool is_session;
	size_t count;
	uint8_t hashes[ROUND_MAX][SHA256_LEN];
};

struct key_refresh {
	struct worker *worker;
	struct key_cache *cache;
	struct round *gathering[2]; /* of keys, and of sessions; NULL: none */
	int rounds;                 /* that have not ended */
};

/* Let the next key begin another round. */
static void round_close(const struct round *round)
{
	struct round **gathering = &round->refresh->gathering[round->is_session];
	if (*gathering == round)
		*gathering = NULL;
}

static void round_run(struct request *rq)
{
	struct round *round = rq->user;
	struct key_cache *cache = round->refresh->cache;
	fiber_sleep(rq, GATHER_MS);
	round_close(round);
	struct cache_version began = key_cache_now(cache);
	struct cached_key **keys =
		key_lookup_all(rq, round->is_session, round->hashes, round->count);
	for (size_t i = 0; i < round->count; i++)
		if (keys[i])
			key_cache_put(cache, round->hashes[i], &began, keys[i]);
		else
			key_cache_drop(cache, round->hashes[i]);
}

static void round_done(struct request *rq)
{
	struct round *round = rq->user;
	round_close(round);
	round->refresh->rounds--;
	free(round);
}

static void round_begin(struct key_refresh *refresh, bool is_session)
{
	struct round *round = calloc(1, sizeof(*round));
	require(round);
	round->refresh = refresh;
	round->is_session = is_session;
	refresh->gathering[is_session] = round;
	refresh->rounds++;
	request_spawn(refresh->worker, "key-refresh", TIMEOUT_MS, round_run, round_done, round);
}

struct key_refresh *key_refresh_new(struct worker *worker, struct key_cache *cache)
{
	struct key_refresh *refresh = calloc(1, sizeof(*refresh));
	require(refresh);
	refresh->worker = worker;
	refresh->cache = cache;
	return refresh;
}

void key_refresh_free(struct key_refresh *refresh)
{
	require(!refresh || refresh->rounds == 0);
	free(refresh);
}

void key_refresh_add(struct key_refresh *refresh, bool is_session, const uint8_t *hash)
{
	struct round **gathering = &refresh->gathering[is_session];
	if (!*gathering)
		round_begin(refresh, is_session);
	struct round *round = *gathering;
	if (!round) /* there is no memory for its fiber */
		return;
	memcpy(round->hashes[round->count++], hash, SHA256_LEN);
	if (round->count == ROUND_MAX)
		round_close(round);
}
