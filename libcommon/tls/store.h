/** The certificates of a process: read at the start, and again when their files change. Shared by
 * the workers. */
#pragma once

#include "tls/pem.h"
#include "tls/settings.h"
#include "tls/ticket.h"

#define TLS_PAIRS_MAX 64

struct tls_store;

/** Read the files of the settings. One in a process: their paths are labels of its metrics.
 * ERR_INVALID: one cannot be used, or the lists differ in length;
 * `ret_reason`, in the arena, is one line that begins with the setting. */
enum err_code tls_store_new(const struct tls_settings *settings, struct arena *arena,
                            struct tls_store **ret_store, const char **ret_reason);

/** After the last context of it. NULL is fine. */
void tls_store_free(struct tls_store *store);

/** Read the files again if they have changed, and not since the last call, so that a pair that is
 * being written is not read in part. What cannot be used is logged, and the previous certificates
 * stay; it is tried again when the files change (their mode and owner, too) and every 30 seconds,
 * since reading may have failed for want of a descriptor. `now_ms`: time_monotonic_ms(). Only one
 * thread calls it. */
void tls_store_check(struct tls_store *store, uint64_t now_ms);

/** Counts up when the certificates have changed. From any thread. */
uint64_t tls_store_generation(const struct tls_store *store);

/** Copies of the certificates, in their order; returns how many. The caller frees each. From any
 * thread. */
size_t tls_store_copy(struct tls_store *store, struct tls_pair *ret_pairs[TLS_PAIRS_MAX]);

const struct ticket_seed *tls_store_seed(const struct tls_store *store);
enum tls_version tls_store_version(const struct tls_store *store);
