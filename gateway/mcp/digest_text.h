/** The digest as Markdown. */
#pragma once

#include "base/arena.h"

/** Write the result of get_digest (tools.yaml), as JSON, in the arena: its notice, then the
 * interests as headings, the papers as items of lists. */
const char *digest_text(struct arena *arena, const char *json);
