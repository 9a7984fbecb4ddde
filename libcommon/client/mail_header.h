/** Fields of an Internet message (RFC 5322), safe for texts of others. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/** `Name: value` without a line end, in the arena. A control character of the value, a line end
 * too, becomes a space, so a value never ends its field. A value that is not printable ASCII, or
 * that looks like an encoded word, is sent as encoded words of UTF-8 in base64 (RFC 2047), each on
 * a line of its own. */
const char *mail_header_write(struct arena *arena, const char *name, const char *value);

/** Most bytes of an address (RFC 5321 section 4.5.3.1.3, without the angle brackets). */
#define MAIL_ADDRESS_MAX 254

/** Whether the text is an address that needs no quotes, as forms of HTML accept it
 * (https://html.spec.whatwg.org/#valid-e-mail-address): ASCII without spaces, angle brackets,
 * commas and control characters. For the `check` of a field. */
bool mail_address_check(const char *text, size_t length, const char **ret_message);
