#include "tls/trust.h"

#include "base/base.h"
#include "base/timefmt.h"
#include "observe/log.h"
#include "tls/file.h"
#include "tls/version.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* What could not be used is read again, although the files look the same: a descriptor may have
 * been missing. */
#define RETRY_MS 30000

/* What the files look like. */
struct stamps {
	struct file_stamp authorities, certificate, key;
};

struct tls_trust {
	struct arena *arena; /* of the names */
	struct tls_trust_files files;
	pthread_mutex_t lock;
	struct stamps read;          /* of what was read last, whether it could be used or not */
	bool has_failed;             /* it could not */
	uint64_t read_ms;            /* monotonic, when that was */
	struct tls_authorities *now; /* NULL: nothing was ever read */
};

static bool has_own(const struct tls_trust *trust)
{
	return trust->files.own.certificate_file && trust->files.own.certificate_file[0];
}

static struct stamps stamps_of(const struct tls_trust *trust)
{
	struct stamps stamps;
	memset(&stamps, 0, sizeof(stamps));
	stamps.authorities = file_stamp_of(trust->files.file);
	if (has_own(trust)) {
		stamps.certificate = file_stamp_of(trust->files.own.certificate_file);
		stamps.key = file_stamp_of(trust->files.own.key_file);
	}
	return stamps;
}

static enum err_code chain_read(const struct tls_trust *trust, struct arena *arena,
                                mbedtls_x509_crt *chain, const char **ret_reason)
{
	const struct tls_trust_files *files = &trust->files;
	char *text;
	if (tls_file_read(files->setting, files->file, 0, arena, &text, ret_reason))
		return ERR_INVALID;
	/* Above 0: so many could not be parsed. The system's file may have some that mbedTLS does
	 * not know; a server that needs one of them is refused. The NUL counts. */
	int failed = mbedtls_x509_crt_parse(chain, (const unsigned char *)text, strlen(text) + 1);
	tls_file_free(&text);
	if (failed >= 0 && chain->version != 0)
		return ERR_NONE;
	*ret_reason = arena_printf(arena, "%s: %s has no certificate in PEM", files->setting,
	                           files->file);
	return ERR_INVALID;
}

/* Read the client's own certificate and see that it can be used. */
static enum err_code own_read(const struct tls_trust *trust, struct arena *arena,
                              struct tls_pem *own, const char **ret_reason)
{
	if (!has_own(trust))
		return ERR_NONE;
	struct tls_pair *pair = NULL;
	*own = trust->files.own;
	enum err_code code = tls_pem_read(own, arena, ret_reason);
	if (!code)
		code = tls_pair_new(own, arena, &pair, ret_reason);
	tls_pair_free(pair);
	return code;
}

static void authorities_free(struct tls_authorities *authorities)
{
	mbedtls_x509_crt_free(&authorities->chain);
	tls_pem_free(&authorities->own);
	free(authorities);
}

static enum err_code authorities_read(const struct tls_trust *trust, struct arena *arena,
                                      struct tls_authorities **ret_authorities,
                                      const char **ret_reason)
{
	struct tls_authorities *made = calloc(1, sizeof(*made));
	require(made);
	mbedtls_x509_crt_init(&made->chain);
	made->references = 1;
	if (chain_read(trust, arena, &made->chain, ret_reason) ||
	    own_read(trust, arena, &made->own, ret_reason)) {
		authorities_free(made);
		return ERR_INVALID;
	}
	*ret_authorities = made;
	return ERR_NONE;
}

/* Drop a reference, under the lock. */
static void authorities_drop(struct tls_authorities *authorities)
{
	if (--authorities->references == 0)
		authorities_free(authorities);
}

/* Read the files, under the lock. If one cannot be used, what was there before stays. */
static enum err_code trust_read(struct tls_trust *trust, struct arena *arena,
                                const char **ret_reason)
{
	struct tls_authorities *made;
	trust->read = stamps_of(trust);
	trust->read_ms = time_monotonic_ms();
	trust->has_failed = authorities_read(trust, arena, &made, ret_reason);
	if (trust->has_failed)
		return ERR_INVALID;
	made->trust = trust;
	if (trust->now)
		authorities_drop(trust->now);
	trust->now = made;
	return ERR_NONE;
}

enum err_code tls_trust_new(const struct tls_trust_files *files, struct arena *arena,
                            struct tls_trust **ret_trust, const char **ret_reason)
{
	struct tls_trust *trust = calloc(1, sizeof(*trust));
	require(trust);
	tls_library_start();
	trust->arena = arena_new();
	trust->files = (struct tls_trust_files){
		.setting = arena_strdup(trust->arena, files->setting),
		.file = arena_strdup(trust->arena, files->file),
		.own = {.certificate_setting =
	                        arena_strdup(trust->arena, files->own.certificate_setting),
	                .key_setting = arena_strdup(trust->arena, files->own.key_setting),
	                .certificate_file = arena_strdup(trust->arena, files->own.certificate_file),
	                .key_file = arena_strdup(trust->arena, files->own.key_file)},
	};
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
		log_error("the new certificates cannot be used, the previous ones are trusted",
		          f_text("reason", reason));
	else
		log_info("authorities read again", f_text("file", trust->files.file));
	arena_free(arena);
}

struct tls_authorities *tls_trust_take(struct tls_trust *trust)
{
	struct stamps stamps = stamps_of(trust);
	pthread_mutex_lock(&trust->lock);
	if (memcmp(&stamps, &trust->read, sizeof(stamps)) != 0 ||
	    (trust->has_failed && time_monotonic_ms() >= trust->read_ms + RETRY_MS))
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
