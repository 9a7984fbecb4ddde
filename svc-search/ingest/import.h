/** svc-search/ingest/: loads papers into the database. Entry points: the command
 * `svc-search import FILE` (import.c), and what harvest/ reads. Both turn papers into `struct
 * metadata` (metadata.h) and store them in batches with the functions below. */
#pragma once

#include "ingest/metadata.h"
#include "loop/request.h"
#include "loop/worker.h"

#include <yyjson.h>

/** Papers that are stored in one transaction. */
struct import_batch {
	struct arena *arena; /* freed when the batch is stored */
	yyjson_mut_doc *doc;
	yyjson_mut_val *rows;
};

/** Papers to be stored. One batch is filled while the one before it may be stored. */
struct import {
	struct request *rq;
	const char *source; /* name of the source of the papers (source.h) */
	struct import_batch batches[2];
	struct import_batch *filling;
	size_t seen, skipped; /* papers: given to be stored; refused */
	/* What became of those that were stored. Older: the stored version is newer, and stays. */
	size_t added, updated, unchanged, older;
	/* When the newest of those was published that came since the last announcement; 0: none
	 * did. */
	int64_t newest_added_ms;
	bool logs_skips;  /* they are logged, and not printed */
	struct buf skips; /* where the first refused ones are: "2401.01234, 2401.01235" */
};
/** In the arena of `rq`. Borrows the name of the source. */
struct import *import_new(struct request *rq, const char *source);

/** Add a paper to the batch that is filled, without storing it. Copies. False when it is invalid,
 * which the caller reports by import_skip(); *ret_why says why, in the arena of the batch. */
bool import_add(struct import *import, const struct metadata *paper, const char **ret_why);

/** Store the papers that were added, and wait for it. Suspends. Raises the error of the
 * database. */
void import_flush(struct import *import);

/** Count the paper at `where` as skipped, and report on standard error why. After the first skips
 * it prints nothing; the caller prints their number at the end. A service logs
 * them (logs_skips). */
void import_skip(struct import *import, const char *where, const char *why);

/** Print the end of the command's last line: what became of the papers, and which were skipped. */
void import_print_outcome(const struct import *import);

/** `import FILE`. Invalid lines are reported with their number and skipped. An interrupted import
 * can be repeated: papers that do not differ are not written again. */
int import_command(struct process *process, int argc, char **argv);

/** `harvest --from DATE [--until DATE] [--set SET]`: reads a list of arXiv page by page. */
int harvest_command(struct process *process, int argc, char **argv);
