/** svc-search/harvest/: reads new papers from the sources of source.h. This file harvests the sets
 * of each source by a schedule, in the background; harvest.c is the command `svc-search harvest`.
 *
 * What is done next is in the row of each set in the table `source`, so that any replica can go on
 * with it. A pass is one request for one page: under the source's lease, and when its turn has come
 * among all processes (`source_pace`). The papers of a page and the token of the next one are
 * stored in one transaction, which needs the lease. A replica that dies loses at most a page, which
 * the next one asks for again.
 *
 *      idle, waiting, failed --(next_at)--> running --(last page)--> idle: the next slot
 *                                            |  ^                    waiting: nothing new yet
 *                                            |  '--(page, expired token, failed attempt)
 *                                            '--(8 failed attempts, a refusal)--> failed
 *
 * A list that has been read to its end is announced in the transaction of its last page by the
 * event `harvest.finished` of the stream `events.assets`, in the lane of its source.
 *
 *      {"source": "arxiv", "set": "cs", "added": 612, "changed": 1204,
 *       "newest_published_at": "2026-11-24T00:00:00.000Z", "day": "2026-11-25",
 *       "is_day_complete": true}
 *
 * `day` is the UTC date of the source's last announcement, and `is_day_complete` says whether all
 * its sets of HARVEST_SETS have been read to their end since with a new paper: the last set of a
 * day says so, and each that is read once more on that day. A run for corrections, on an evening
 * without announcement, repeats the day of the announcement before. A run that fails announces
 * nothing, and neither does a day without papers: whoever waits for a day needs a time of their
 * own. `newest_published_at` is null while the set has had no paper.
 */
#pragma once

#include "base/config.h"
#include "loop/worker.h"

#include <stdbool.h>

struct harvester;

/** HARVEST_SETS, HARVEST_BACKFILL_DAYS, HARVEST_MAX_RECORDS. */
extern const struct setting HARVESTER_SETTINGS[];

/** Whether HARVEST_SETS lists a set: otherwise nothing is harvested in the background. */
bool harvester_is_on(void);

/** One for each source: they are asked independently. NULL: it is not on. */
struct harvester *harvester_start(struct worker *worker);

/** Accepts NULL. */
void harvester_stop(struct harvester *harvesters);
