/** Unicode's normal form C (UAX #15), in which canonically equal texts are equal bytes. */
#pragma once

#include "base/arena.h"

/** The text in normal form C, in the arena. `text` itself where it is in that form already, or is
 * no UTF-8. */
const char *normal_form(struct arena *arena, const char *text, size_t length);
