#include "tls/store.h"

#include "base/timefmt.h"
#include "observe/log.h"
#include "observe/metrics.h"
#include "tls/file.h"
#include "tls/version.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define RETRY_MS 30000 /* what could not be used is read again, although its files look the same */

METRIC_GAUGE(expires, "expops_tls_certificate_expires_timestamp_seconds",
             "When the certificate of the file that is served expires.", "certificate");
METRIC_GAUGE(stale, "expops_tls_certificates_stale",
             "Whether the files of certificates have changed to something that cannot be used, so "
             "that the previous ones are served: 1 or 0.");

struct stamps {
	struct file_stamp files[2 * TLS_PAIRS_MAX];
};

struct tls_store {
	struct arena *arena; /* of the paths */
	size_t count;
	enum tls_version version;
	struct ticket_seed seed;
	pthread_mutex_t lock; /* of what was read */
	struct tls_pem pems[TLS_PAIRS_MAX];
	_Atomic uint64_t generation;
	/* Of the thread that checks: */
	struct stamps read, seen; /* of the files that were read last, and at the last check */
	uint64_t read_ms;         /* when they were */
	char *fault;              /* why they cannot be used; NULL: they are served */
	int64_t expires_s[TLS_PAIRS_MAX];
	uint64_t published; /* the generation that the metrics tell of */
};

/* Split a list of files into `paths`. Returns how many there are; TLS_PAIRS_MAX + 1: too many. */
static size_t list_split(struct arena *arena, const char *text,
                         const char *paths[TLS_PAIRS_MAX + 1])
{
	size_t count = 0;
	for (const char *at = text; count <= TLS_PAIRS_MAX;) {
		at += strspn(at, ", ");
		size_t length = strcspn(at, ", ");
		if (length == 0)
			break;
		paths[count++] = arena_strndup(arena, at, length);
		at += length;
	}
	return count;
}

static void take_stamps(const struct tls_store *store, struct stamps *stamps)
{
	memset(stamps, 0, sizeof(*stamps));
	for (size_t i = 0; i < store->count; i++) {
		stamps->files[2 * i] = file_stamp_of(store->pems[i].certificate_file);
		stamps->files[2 * i + 1] = file_stamp_of(store->pems[i].key_file);
	}
}

static bool stamps_equal(const struct stamps *a, const struct stamps *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static void pems_free(struct tls_pem pems[TLS_PAIRS_MAX])
{
	for (size_t i = 0; i < TLS_PAIRS_MAX; i++)
		tls_pem_free(&pems[i]);
}

/* Read one pair and see that it can be used. */
static enum err_code pem_try(struct tls_pem *pem, struct arena *arena, int64_t *ret_expires_s,
                             const char **ret_reason)
{
	struct tls_pair *pair = NULL;
	enum err_code code = tls_pem_read(pem, arena, ret_reason);
	if (!code)
		code = tls_pair_new(pem, arena, &pair, ret_reason);
	if (!code)
		*ret_expires_s = tls_pair_expires_s(pair);
	tls_pair_free(pair);
	return code;
}

/* Put what was read in place, and what was there before into `pems`. */
static void exchange_pems(struct tls_store *store, struct tls_pem pems[TLS_PAIRS_MAX])
{
	struct tls_pem before[TLS_PAIRS_MAX];
	pthread_mutex_lock(&store->lock);
	memcpy(before, store->pems, sizeof(before));
	memcpy(store->pems, pems, sizeof(before));
	pthread_mutex_unlock(&store->lock);
	memcpy(pems, before, sizeof(before));
	atomic_fetch_add(&store->generation, 1);
}

/* Read all files; the store changes only if all can be used. */
static enum err_code store_read(struct tls_store *store, struct arena *arena,
                                const char **ret_reason)
{
	struct tls_pem pems[TLS_PAIRS_MAX] = {0};
	int64_t expires_s[TLS_PAIRS_MAX] = {0};
	enum err_code code = ERR_NONE;
	for (size_t i = 0; i < store->count && !code; i++) {
		pems[i] = store->pems[i];
		pems[i].certificate = pems[i].key = NULL;
		code = pem_try(&pems[i], arena, &expires_s[i], ret_reason);
	}
	if (!code) {
		exchange_pems(store, pems);
		memcpy(store->expires_s, expires_s, sizeof(expires_s));
	}
	pems_free(pems);
	return code;
}

static void publish_expiry(struct tls_store *store)
{
	if (store->published == store->generation)
		return;
	store->published = store->generation;
	for (size_t i = 0; i < store->count; i++)
		metric_set(&expires, store->pems[i].certificate_file, NULL,
		           (double)store->expires_s[i]);
}

/* Say how reading the files again went; `fault`: why they cannot be used, or NULL. */
static void report(struct tls_store *store, const char *fault)
{
	metric_set(&stale, NULL, NULL, fault != NULL);
	if (!fault)
		log_info("certificates read again");
	else if (!store->fault || strcmp(store->fault, fault) != 0)
		log_error("the new certificates cannot be used, the previous ones are served",
		          f_text("reason", fault));
	free(store->fault);
	store->fault = fault ? strdup(fault) : NULL;
	require(store->fault || !fault);
}

static void read_again(struct tls_store *store)
{
	struct arena *arena = arena_new();
	const char *reason;
	enum err_code code = store_read(store, arena, &reason);
	report(store, code ? reason : NULL);
	arena_free(arena);
}

/* The lists of the settings. */
static enum err_code take_paths(struct tls_store *store, const struct tls_settings *settings,
                                const char **ret_reason)
{
	const char *certificates[TLS_PAIRS_MAX + 1], *keys[TLS_PAIRS_MAX + 1];
	size_t count = list_split(store->arena, settings->certificates, certificates);
	if (count == 0 || count > TLS_PAIRS_MAX) {
		*ret_reason = "TLS_CERT_FILE: must name 1 to 64 files";
		return ERR_INVALID;
	}
	if (list_split(store->arena, settings->keys, keys) != count) {
		*ret_reason = "TLS_KEY_FILE: must name a file for each of TLS_CERT_FILE";
		return ERR_INVALID;
	}
	store->count = count;
	for (size_t i = 0; i < count; i++)
		store->pems[i] = (struct tls_pem){
			.certificate_setting = "TLS_CERT_FILE",
			.key_setting = "TLS_KEY_FILE",
			.certificate_file = certificates[i],
			.key_file = keys[i],
		};
	return ERR_NONE;
}

enum err_code tls_store_new(const struct tls_settings *settings, struct arena *arena,
                            struct tls_store **ret_store, const char **ret_reason)
{
	struct tls_store *store = calloc(1, sizeof(*store));
	require(store);
	tls_library_start();
	store->arena = arena_new();
	store->version = tls_settings_version(settings);
	ticket_seed_init(&store->seed, time_monotonic_ms());
	pthread_mutex_init(&store->lock, NULL);
	enum err_code code = take_paths(store, settings, ret_reason);
	take_stamps(store, &store->read);
	store->seen = store->read;
	if (!code)
		code = store_read(store, arena, ret_reason);
	if (code)
		tls_store_free(store);
	else
		*ret_store = store;
	return code;
}

void tls_store_free(struct tls_store *store)
{
	if (!store)
		return;
	pems_free(store->pems);
	pthread_mutex_destroy(&store->lock);
	explicit_bzero(&store->seed, sizeof(store->seed));
	free(store->fault);
	arena_free(store->arena);
	free(store);
}

void tls_store_check(struct tls_store *store, uint64_t now_ms)
{
	struct stamps now;
	take_stamps(store, &now);
	bool is_steady = stamps_equal(&now, &store->seen);
	bool is_retry_due = store->fault && now_ms >= store->read_ms + RETRY_MS;
	store->seen = now;
	if (is_steady && (is_retry_due || !stamps_equal(&now, &store->read))) {
		store->read = now;
		store->read_ms = now_ms;
		read_again(store);
	}
	publish_expiry(store);
}

uint64_t tls_store_generation(const struct tls_store *store)
{
	return store->generation;
}

size_t tls_store_copy(struct tls_store *store, struct tls_pair *ret_pairs[TLS_PAIRS_MAX])
{
	struct arena *arena = arena_new();
	const char *reason;
	pthread_mutex_lock(&store->lock);
	for (size_t i = 0; i < store->count; i++)
		require(!tls_pair_new(&store->pems[i], arena, &ret_pairs[i], &reason));
	pthread_mutex_unlock(&store->lock);
	arena_free(arena);
	return store->count;
}

const struct ticket_seed *tls_store_seed(const struct tls_store *store)
{
	return &store->seed;
}

enum tls_version tls_store_version(const struct tls_store *store)
{
	return store->version;
}
