/** The text of an API key: a prefix of its kind, 32 random base62 characters, and a checksum: the
 * CRC-32 of everything before it as 6 base62 digits. With the checksum a mistyped key is refused
 * without a lookup.
 *
 *     usr_8kQ0...32...xZ1 + 00aB3c
 *
 * The database stores the SHA-256 of the text, and its first KEY_SHOWN_LEN characters to show.
 */
#pragma once

#include "base/arena.h"
#include "crypto/crypto.h"
#include "crypto/identity.h"

#include <stdbool.h>
#include <stdint.h>

#define KEY_TEXT_MAX  43 /* `auto_`, 32, 6 */
#define KEY_SHOWN_LEN 12

/** Make a new key. `kind` is KEY_PERSONAL or KEY_AUTOMATION. NUL-terminated. */
void key_text_make(enum key_kind kind, char out[KEY_TEXT_MAX + 1]);

/** Whether `text` has the form of a key and the right checksum. */
bool key_text_is_valid(const char *text);

/** The token of a browser's session, which is looked up as a key is: 32 random bytes as 43
 * characters of base64url (RFC 4648 section 5). It has no prefix, so neither is taken for the
 * other. In the arena. */
char *session_text_new(struct arena *arena);
bool session_text_is_valid(const char *text);

/** The SHA-256 of the text, of a key or a session. */
void key_text_hash(const char *text, uint8_t out[SHA256_LEN]);
