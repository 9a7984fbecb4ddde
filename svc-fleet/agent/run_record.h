/** The whole record of one run, for what is said about it. */
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
	yyjson_val *record;   /* as the list shows it, with the large members */
	yyjson_val *gates;    /* [{"name", "status", "detail"}]; status passed, stopped, unknown */
	const char *stage;    /* of its artifact: `open`, `closed`, `merged`; NULL: it has none */
	const char *analysis; /* JSON text that was stored for this state of the run; NULL: none */
	const char *row;      /* UUID */
	const char *changed_at; /* as Postgres writes it */
};

/** Read a run of the caller. Raises ERR_NOT_FOUND: it has no such run; ERR_FORBIDDEN: the key is
 * limited to another repository. Suspends. */
struct run_record run_record_get(struct request *rq, const struct run_reference *reference);
