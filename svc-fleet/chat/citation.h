/** Citations of a reply: the run, and the member of its record, that a statement rests on. Pure
 * logic.
 *
 *     [{"run_id": 17, "field": "error"}]
 *
 * In a prompt, runs have labels, R1, R2 and so on, and the model marks what it takes from one:
 * `[R2.error]`, or `[R2]` for the run as such. A mark becomes a citation only if the label was in
 * the prompt, and the run has that member and was shown with it. All other marks are invented and
 * dropped. */
#pragma once

#include "base/arena.h"
#include "chat/chat_records.h"

#include <yyjson.h>

#include <stddef.h>

/** The runs that a prompt shows; the label of the first is R1. */
struct labelled_runs {
	yyjson_val *runs[CHAT_RUNS_MAX + 1]; /* and the one in focus */
	size_t count;
};

struct citations {
	struct arena *arena;
	yyjson_mut_doc *doc;
	yyjson_mut_val *list; /* without duplicates */
};

/** How a run is called in a sentence: `17`. */
const char *chat_run_name(struct arena *arena, yyjson_val *run_id);

struct citations citations_new(struct arena *arena, yyjson_mut_doc *doc);

/** Cite a member of a run. */
void citation_add(struct citations *citations, yyjson_val *run_id, const char *field);

/** Take the marks out of the model's text: cite what they name, and write `[run 17]` in their
 * place, or nothing for an invented one. Returns the text, trimmed; it may be empty. */
const char *citations_take(struct citations *citations, const char *text,
                           const struct labelled_runs *runs);
