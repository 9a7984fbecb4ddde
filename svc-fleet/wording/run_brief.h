/** What a prompt shows of a run: known members of its record, each of bounded length. Pure
 * logic. */
#pragma once

#include "base/arena.h"

#include <yyjson.h>

#include <stdbool.h>
#include <stddef.h>

/** Whether a run is shown with this member, where its record has it. */
bool run_brief_shows(const char *member);

/** The members of `record` that are shown. A text is cut to `member_max_bytes`; a list or object
 * that is longer as JSON becomes a text that is cut. */
yyjson_mut_val *run_brief(struct arena *arena, yyjson_mut_doc *doc, yyjson_val *record,
                          size_t member_max_bytes);
