/** Hugging Face's daily papers, a signal about papers that are stored already: where their code is,
 * and how many people have recommended them.
 *
 * Once a day one process, by its lease, asks for the papers of the last days, since votes go on for
 * some days. When that succeeds or fails is in the table `source_pace`, so that a restart does not
 * ask again. A failure does nothing but wait: an hour, or as long as Retry-After says. */
#pragma once

#include "base/config.h"
#include "loop/worker.h"

struct daily_papers;

/** DAILY_PAPERS_URL. */
extern const struct setting DAILY_PAPERS_SETTINGS[];

/** NULL: it is off. */
struct daily_papers *daily_papers_start(struct worker *worker);

/** Accepts NULL. */
void daily_papers_stop(struct daily_papers *daily);
