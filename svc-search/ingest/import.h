/** Loading papers: `svc-search import FILE` and `svc-search harvest`. */
#pragma once

#include "base/config.h"
#include "ingest/metadata.h"
#include "loop/request.h"
#include "loop/worker.h"

#include <yyjson.h>

/** Papers on their way into the database: gathered, and written a batch at a time, each batch a
 * transaction of its own. */
struct import {
	struct request *rq;
	struct arena *arena; /* of the batch */
	yyjson_mut_doc *doc;
	yyjson_mut_val *rows;
	size_t seen, written, skipped; /* papers */
};

struct import *import_new(struct request *rq);

/** Add a paper. False when it cannot be stored; *ret_why says why. */
bool import_add(struct import *import, const struct metadata *paper, const char **ret_why);

/** Write what is gathered. Suspends; raises when the database refuses. */
void import_flush(struct import *import);

/** Say on standard error that a paper just counted as skipped was, and why; after some, only that
 * there are more. */
void import_report_skip(const struct import *import, const char *where, const char *why);

/** `import FILE`. Lines that cannot be stored are reported with their number and skipped; safe to
 * repeat after an interruption: what is there already and does not differ is left alone. */
int import_command(struct process *process, int argc, char **argv);

/** OAI_URL, HARVEST_DELAY. */
extern const struct setting HARVEST_SETTINGS[];

/** `harvest --from DATE [--until DATE] [--set SET]`. */
int harvest_command(struct process *process, int argc, char **argv);
