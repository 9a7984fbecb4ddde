#include "app/token_cache.h"

#include "base/base.h"
#include "crypto/crypto.h"

#include <pthread.h>
#include <string.h>

#define TOKENS_MAX  256
#define TOKEN_BYTES 1024
#define MARGIN_MS   300000
#define FRESH_MS    5000
#define WAITS_MAX   2
#define DOUBTFUL_MS 60000
#define OLD_MS      1200000

struct entry {
	uint8_t use[SHA256_LEN];
	char token[TOKEN_BYTES]; /* empty: the entry is free */
	int64_t expires_ms, made_ms;
	uint64_t used; /* greater: later */
};

static struct entry entries[TOKENS_MAX];
static uint64_t uses;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void use_hash(const char *use, uint8_t hash[SHA256_LEN])
{
	sha256(use, strlen(use), hash);
}

static void entry_drop(struct entry *entry)
{
	explicit_bzero(entry, sizeof(*entry));
}

/* The entry of a use; NULL: there is none. */
static struct entry *find(const uint8_t hash[SHA256_LEN])
{
	for (size_t i = 0; i < TOKENS_MAX; i++)
		if (entries[i].token[0] && memcmp(entries[i].use, hash, SHA256_LEN) == 0)
			return &entries[i];
	return NULL;
}

static void drop_expired(int64_t now_ms)
{
	for (size_t i = 0; i < TOKENS_MAX; i++)
		if (entries[i].token[0] && entries[i].expires_ms - now_ms <= MARGIN_MS)
			entry_drop(&entries[i]);
}

/* A free entry, or the one that was not used for the longest time. */
static struct entry *oldest(void)
{
	struct entry *found = &entries[0];
	for (size_t i = 0; i < TOKENS_MAX; i++)
		if (entries[i].used < found->used)
			found = &entries[i];
	return found;
}

bool token_cache_get(struct arena *arena, const char *use, int64_t now_ms,
                     struct cached_token *ret_token)
{
	uint8_t hash[SHA256_LEN];
	use_hash(use, hash);
	pthread_mutex_lock(&lock);
	drop_expired(now_ms);
	struct entry *entry = find(hash);
	if (entry) {
		entry->used = ++uses;
		*ret_token =
			(struct cached_token){arena_strdup(arena, entry->token), entry->made_ms};
	}
	pthread_mutex_unlock(&lock);
	return entry;
}

void token_cache_put(const char *use, const struct cached_token *token, int64_t expires_ms,
                     int64_t now_ms)
{
	uint8_t hash[SHA256_LEN];
	size_t length = strlen(token->token);
	if (length == 0 || length >= TOKEN_BYTES || expires_ms - now_ms <= MARGIN_MS)
		return;
	use_hash(use, hash);
	pthread_mutex_lock(&lock);
	drop_expired(now_ms);
	struct entry *entry = find(hash);
	entry = entry ? entry : oldest();
	entry_drop(entry);
	memcpy(entry->use, hash, SHA256_LEN);
	memcpy(entry->token, token->token, length + 1);
	entry->expires_ms = expires_ms;
	entry->made_ms = token->made_ms;
	entry->used = ++uses;
	pthread_mutex_unlock(&lock);
}

enum token_remedy token_remedy_of(int status, int64_t age_ms, unsigned waits)
{
	bool is_fresh = waits > 0 || age_ms < FRESH_MS;
	if (status != 401 && age_ms >= OLD_MS)
		return TOKEN_TRY_ANOTHER;
	if (status != 401)
		return age_ms < DOUBTFUL_MS ? TOKEN_IS_RIGHT : TOKEN_COMPARE;
	if (is_fresh)
		return waits < WAITS_MAX ? TOKEN_USE_AGAIN : TOKEN_DROP;
	return TOKEN_REPLACE;
}

void token_cache_drop(const char *use, const char *token)
{
	uint8_t hash[SHA256_LEN];
	use_hash(use, hash);
	pthread_mutex_lock(&lock);
	struct entry *entry = find(hash);
	if (entry && strcmp(entry->token, token) == 0)
		entry_drop(entry);
	pthread_mutex_unlock(&lock);
}
