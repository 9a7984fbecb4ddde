/** The settings of a process that serves TLS. */
#pragma once

#include "base/config.h"

enum tls_version { TLS_1_2, TLS_1_3 };

struct tls_settings {
	const char *certificates, *keys; /* lists of files */
	const char *min_version;
	int64_t memory_bytes; /* of all connections together */
};

/** TLS_CERT_FILE, TLS_KEY_FILE, TLS_MIN_VERSION, TLS_MEMORY. */
extern struct tls_settings tls_settings;
extern const struct setting TLS_SETTINGS[];

enum tls_version tls_settings_version(const struct tls_settings *settings);

struct tls_store;

/** Check what the table cannot express, and read the certificates if an address of LISTEN is served
 * by TLS (`listens`); else *ret_store is NULL. ERR_INVALID, after a line on standard error: a
 * setting or a file does not fit. */
enum err_code tls_settings_open(const struct tls_settings *settings, bool listens,
                                struct tls_store **ret_store);
