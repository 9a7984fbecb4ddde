/** Addresses of persons (RFC 5321). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define EMAIL_MAX 254 /* RFC 5321 section 4.5.3.1.3: a path of 256 less its brackets */

/** Whether a text has the form of an address: one @ with text on both sides, no spaces and no
 * control characters, at most EMAIL_MAX bytes. As the check of a field (input/input.h). */
bool email_address_check(const char *text, size_t length, const char **ret_message);
