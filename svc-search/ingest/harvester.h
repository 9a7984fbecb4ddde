/** Harvests the sets of a source by a schedule, in the background.
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
 */
#pragma once

#include "base/config.h"
#include "loop/worker.h"

#include <stdbool.h>

struct harvester;

/** HARVEST_SETS, HARVEST_AT, HARVEST_BACKFILL_DAYS, HARVEST_MAX_RECORDS. */
extern const struct setting HARVESTER_SETTINGS[];

/** Whether HARVEST_SETS lists a set: otherwise nothing is harvested in the background. */
bool harvester_is_on(void);

/** For the source arXiv. NULL: it is not on. */
struct harvester *harvester_start(struct worker *worker);

/** Accepts NULL. */
void harvester_stop(struct harvester *harvester);
