/** The text of an API key: a prefix, 32 base62 characters from the system's random source, and 6 of
 * base62 CRC-32 of all that stands before, so that a typing error is refused without a look-up.
 *
 *     usr_8kQ0...32...xZ1 + 00aB3c
 *
 * Only the SHA-256 of a key is kept, with its first 12 characters to show.
 */
#pragma once

#include "base/crypto.h"
#include "base/identity.h"

#include <stdbool.h>
#include <stdint.h>

#define KEY_TEXT_MAX  43 /* `auto_`, 32, 6 */
#define KEY_SHOWN_LEN 12

/** A new key of the kind (personal or automation), NUL-terminated. */
void key_text_make(enum key_kind kind, char out[KEY_TEXT_MAX + 1]);

/** Whether `text` has the form of a key and its checksum holds. */
bool key_text_is_valid(const char *text);

/** What is kept of it. */
void key_text_hash(const char *text, uint8_t out[SHA256_LEN]);
