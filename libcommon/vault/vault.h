/** libcommon/vault/: seals tokens, keys and secrets before they are stored, and opens them.
 *
 * A sealed text is encrypted with AES-256-GCM under one of SEAL_KEYS. It starts with the id of its
 * key, so that several keys can be in use while one is replaced:
 *
 *     1 byte   length of the id
 *     n bytes  id of the key
 *     12 bytes nonce, then the encrypted text, then a tag of 16 bytes
 *
 * The context, such as `connection 0197… 0197… tracker_a`, names the row that the text belongs to.
 * It is authenticated and not stored: a sealed text that is copied to another row does not open.
 *
 * The keys never change while the process runs. Every function is thread-safe.
 */
#pragma once

#include "base/arena.h"
#include "base/config.h"
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/** SEAL_KEYS. */
extern const struct setting VAULT_SETTINGS[];

/** Read SEAL_KEYS, `id:base64[,id:base64…]`, each key of 32 bytes. For service.settings_check.
 * ERR_INVALID: the setting is wrong; the reason was printed on standard error. */
enum err_code vault_init(void);

struct sealed {
	const uint8_t *data;
	size_t length;
};

/** Seal `text` under the first key, in the arena. */
struct sealed vault_seal(struct arena *arena, const char *context, const char *text);

/** Open a sealed text, NUL-terminated, in the arena, which should be wiped when it is freed
 * (arena_new_wiped()). NULL: no key has that id, or the text or the context was changed. */
char *vault_open(struct arena *arena, const char *context, const void *data, size_t length);

/** What every text that the first key has sealed begins with, as hex, in the arena. */
char *vault_prefix_hex(struct arena *arena);
