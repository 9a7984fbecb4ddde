#include "tls/settings.h"

#include "base/arena.h"
#include "tls/store.h"
#include "tls/version.h"

#include <stdio.h>
#include <string.h>

struct tls_settings tls_settings;

const struct setting TLS_SETTINGS[] = {
	SETTING_TEXT(&tls_settings.certificates, "TLS_CERT_FILE", "",
                     "Certificates for the https:// addresses of LISTEN: PEM files, each with its "
                     "chain, separated by commas; the client's server name chooses, the first is "
                     "the default. Read again when they change."),
	SETTING_TEXT(&tls_settings.keys, "TLS_KEY_FILE", "",
                     "The private keys of TLS_CERT_FILE, in the same order; no file may be open to "
                     "other users."),
	SETTING_TEXT(&tls_settings.min_version, "TLS_MIN_VERSION", "1.2",
                     "Oldest TLS version that clients may use: 1.2 or 1.3."),
	SETTING_BYTES(
		&tls_settings.memory_bytes, "TLS_MEMORY", "512MiB", 1 << 20, INT64_C(1) << 40,
		"Memory for TLS connections, 40 KiB each: with an https:// address in LISTEN, "
		"CONNECTIONS_MAX is at most what fits."),
	SETTING_END,
};

static const char *const VERSIONS[] = {[TLS_1_2] = "1.2", [TLS_1_3] = "1.3"};

enum tls_version tls_settings_version(const struct tls_settings *settings)
{
	return strcmp(settings->min_version, VERSIONS[TLS_1_3]) == 0 ? TLS_1_3 : TLS_1_2;
}

static enum err_code refuse(const char *name, const char *reason)
{
	fprintf(stderr, "%s: %s\n", name, reason);
	return ERR_INVALID;
}

static enum err_code check_version(const struct tls_settings *settings)
{
	if (strcmp(settings->min_version, VERSIONS[TLS_1_2]) == 0)
		return ERR_NONE;
	if (strcmp(settings->min_version, VERSIONS[TLS_1_3]) != 0)
		return refuse("TLS_MIN_VERSION", "must be 1.2 or 1.3");
	if (!TLS_HAS_1_3)
		return refuse("TLS_MIN_VERSION",
		              "this build has TLS 1.2 only (1.3 needs mbedTLS 3.6)");
	return ERR_NONE;
}

static enum err_code open_store(const struct tls_settings *settings, struct tls_store **ret_store)
{
	struct arena *arena = arena_new();
	const char *reason;
	enum err_code code = tls_store_new(settings, arena, ret_store, &reason);
	if (code)
		fprintf(stderr, "%s\n", reason);
	arena_free(arena);
	return code;
}

enum err_code tls_settings_open(const struct tls_settings *settings, bool listens,
                                struct tls_store **ret_store)
{
	bool has_files = *settings->certificates || *settings->keys;
	if (check_version(settings))
		return ERR_INVALID;
	if (listens && !has_files)
		return refuse("TLS_CERT_FILE", "must be set: LISTEN has an https:// address");
	if (!listens && has_files)
		return refuse("TLS_CERT_FILE", "is set, but LISTEN has no https:// address");
	*ret_store = NULL;
	return listens ? open_store(settings, ret_store) : ERR_NONE;
}
