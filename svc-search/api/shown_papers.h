/** Papers as searches show them, kept in memory, so that a search needs no statement of Postgres:
 * beside other work that would have it wait for a processor several times.
 *
 * A paper is taken from memory only while the index has the state of it that was known when it was
 * read (`seq` of a hit). So what a search shows is as new as what it has found, or newer.
 *
 * Kept are the papers that changed last, which are read in the background after the start and as
 * they change, and those that searches show. Of more bytes than SHOWN_PAPER_CACHE those go that
 * were not shown for the longest. */
#pragma once

#include "base/config.h"
#include "engine/engine.h"
#include "loop/request.h"
#include "loop/worker.h"

struct indexer;
struct shown_papers;

/** SHOWN_PAPER_CACHE. */
extern const struct setting SHOWN_PAPERS_SETTINGS[];

/** For a process, before its threads start. Borrows the index. */
struct shown_papers *shown_papers_new(const struct indexer *indexer);

/** After its threads have ended. */
void shown_papers_free(struct shown_papers *papers);

/** Begin and stop to read papers in the background, on the thread of `worker`. */
void shown_papers_start(struct shown_papers *papers, struct worker *worker);
void shown_papers_stop(struct shown_papers *papers);

/** The JSON object of each hit's paper, in the arena; NULL: it was withdrawn after the search. Any
 * thread. Suspends; raises. */
const char **shown_papers_of(struct request *rq, const struct engine_hit *hits, size_t count);
