/** The whole record of one run, and the texts that were made about it. */
#pragma once

#include "loop/request.h"

#include <yyjson.h>

/** Names a run of the caller: by its id or by the link of what it opened. */
struct run_reference {
	const char *repo;   /* NULL: any */
	const char *run_id; /* JSON text; NULL: by the link */
	const char *url;
};

struct run_record {
	yyjson_val *record; /* as the list shows it, with the large members */
	yyjson_val *gates;  /* [{"name", "status", "detail"}]; status passed, stopped, unknown */
	const char *stage;  /* of its artifact: `open`, `closed`, `merged`; NULL: it has none */
	const char
		*text; /* JSON of the text that was stored for this state of the run; NULL: none */
	const char *text_made_at;
	const char *row, *version; /* for run_text_store() */
};

/** Read a run of the caller, with the stored text of a kind: `analysis`, `digest`. Raises
 * ERR_NOT_FOUND: it has no such run; ERR_FORBIDDEN: the key is limited to another repository. Suspends. */
struct run_record run_record_get(struct request *rq, const struct run_reference *reference,
                                 const char *kind);

/** Store a text about this state of the run. Returns when it was made. Suspends. */
const char *run_text_store(struct request *rq, const struct run_record *run, const char *kind,
                           const char *json);
