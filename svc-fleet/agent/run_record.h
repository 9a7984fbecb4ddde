/** The whole record of one run, and the texts that were made about it.
 *
 * A text is made once for a state of the run and stored. A text that was made without the
 * configured model is given again for a minute, and then the model is asked again. */
#pragma once

#include "loop/request.h"

#include <yyjson.h>

/** Names a run of the caller: by its id or by the link of what it opened. */
struct run_reference {
	const char *repo;   /* NULL: any */
	const char *run_id; /* JSON text; NULL: by the link */
	const char *url;
};

/** A text about a run, as it is stored. */
struct run_text {
	yyjson_val *body; /* object; `model` is who worded it, null: nobody */
	const char *made_at;
};

struct run_record {
	/* As the list shows it. Where a text is to be made, with the large members, if they are
	 * not too large; otherwise it has `selection_omitted`. */
	yyjson_val *record;
	yyjson_val *gates;    /* [{"name", "status", "detail"}]; status passed, stopped, unknown */
	const char *stage;    /* of its artifact: `open`, `closed`, `merged`; NULL: it has none */
	struct run_text text; /* for this state of the run; body NULL: none was stored */
	const char *row, *version; /* for run_text_store() */
};

/** Read a run of the caller, with the stored text of a kind: `analysis`, `digest`; NULL: no text is
 * looked for, and only the model may be shown the run. Raises ERR_NOT_FOUND: it has no such run;
 * ERR_FORBIDDEN: the key is limited to another repository. Suspends. */
struct run_record run_record_get(struct request *rq, const struct run_reference *reference,
                                 const char *kind);

/** Store a text about this state of the run. Returns what is stored now, which may be the text of
 * the model that another request has stored meanwhile. Suspends. */
struct run_text run_text_store(struct request *rq, const struct run_record *run, const char *kind,
                               yyjson_mut_val *body);

/** Ask the model to word a text about the run: `task` as in wording_ask(); `draft` is the text by
 * rules. NULL: use the draft. Suspends. */
const char *run_text_ask(struct request *rq, const struct run_record *run, const char *kind,
                         const char *task, const char *draft);
