/** The daily run: once a day (UTC) every account's active interests are refreshed without asking.
 *
 * Each replica looks from time to time whether the day's run is due; whoever can insert the day's
 * row starts it, in the same statement. A day on which every replica was down until late is caught
 * up with at the next start. */
#pragma once

#include "loop/worker.h"

/** Begin to look; on one worker of the process. */
void daily_start(struct worker *worker);

/** The same worker ends. */
void daily_stop(struct worker *worker);
