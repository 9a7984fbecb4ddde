#include "tls/trust.h"

#include "base/base.h"
#include "observe/log.h"
#include "tls/file.h"
#include "tls/version.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct tls_trust {
	struct arena *arena; /* of the names */
	const char *setting, *file;
	pthread_mutex_t lock;
	struct file_stamp
		read; /* of the file that was read last, whether it could be used or not */
	struct tls_authorities *now; /* NULL: it was never read */
};

static enum err_code authorities_read(const struct tls_trust *trust, struct arena *arena,
                                      struct tls_authorities **ret_authorities,
                                      const char **ret_reason)
{
	char *text;
	if (tls_file_read(trust->setting, trust->file, 0, arena, &text, ret_reason))
		return ERR_INVALID;
	struct tls_authorities *made = calloc(1, sizeof(*made));
	require(made);
	mbedtls_x509_crt_init(&made->chain);
	made->references = 1;
	/* Above 0: so many could not be parsed. The system's file may have some that mbedTLS does
	 * not know; a server that needs one of them is refused. The NUL counts. */
	int failed =
		mbedtls_x509_crt_parse(&made->chain, (const unsigned char *)text, strlen(text) + 1);
	tls_file_free(&text);
	if (failed >= 0 && made->chain.version != 0) {
		*ret_authorities = made;
		return ERR_NONE;
	}
	mbedtls_x509_crt_free(&made->chain);
	free(made);
	*ret_reason = arena_printf(arena, "%s: %s has no certificate in PEM", trust->setting,
	                           trust->file);
	return ERR_INVALID;
}

/* Drop a reference, under the lock. */
static void authorities_drop(struct tls_authorities *authorities)
{
	if (--authorities->references > 0)
		return;
	mbedtls_x509_crt_free(&authorities->chain);
	free(authorities);
}

/* Read the file, under the lock. If it cannot be used, what was there before stays. */
static enum err_code trust_read(struct tls_trust *trust, struct arena *arena,
                                const char **ret_reason)
{
	struct tls_authorities *made;
	trust->read = file_stamp_of(trust->file);
	if (authorities_read(trust, arena, &made, ret_reason))
		return ERR_INVALID;
	made->trust = trust;
	if (trust->now)
		authorities_drop(trust->now);
	trust->now = made;
	return ERR_NONE;
}

enum err_code tls_trust_new(const char *setting, const char *file, struct arena *arena,
                            struct tls_trust **ret_trust, const char **ret_reason)
{
	struct tls_trust *trust = calloc(1, sizeof(*trust));
	require(trust);
	tls_library_start();
	trust->arena = arena_new();
	trust->setting = arena_strdup(trust->arena, setting);
	trust->file = arena_strdup(trust->arena, file);
	pthread_mutex_init(&trust->lock, NULL);
	if (trust_read(trust, arena, ret_reason)) {
		tls_trust_free(trust);
		return ERR_INVALID;
	}
	*ret_trust = trust;
	return ERR_NONE;
}

void tls_trust_free(struct tls_trust *trust)
{
	if (!trust)
		return;
	if (trust->now)
		tls_authorities_release(trust->now);
	pthread_mutex_destroy(&trust->lock);
	arena_free(trust->arena);
	free(trust);
}

static void read_again(struct tls_trust *trust)
{
	struct arena *arena = arena_new();
	const char *reason;
	if (trust_read(trust, arena, &reason))
		log_error(LOG_GROUP_MAIN,
		          "the new authorities cannot be used, the previous ones are trusted",
		          f_text("reason", reason));
	else
		log_info(LOG_GROUP_MAIN, "authorities read again", f_text("file", trust->file));
	arena_free(arena);
}

struct tls_authorities *tls_trust_take(struct tls_trust *trust)
{
	struct file_stamp stamp = file_stamp_of(trust->file);
	pthread_mutex_lock(&trust->lock);
	if (memcmp(&stamp, &trust->read, sizeof(stamp)) != 0)
		read_again(trust);
	struct tls_authorities *authorities = trust->now;
	authorities->references++;
	pthread_mutex_unlock(&trust->lock);
	return authorities;
}

void tls_authorities_release(struct tls_authorities *authorities)
{
	struct tls_trust *trust = authorities->trust;
	pthread_mutex_lock(&trust->lock);
	authorities_drop(authorities);
	pthread_mutex_unlock(&trust->lock);
}
