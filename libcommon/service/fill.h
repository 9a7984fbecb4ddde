/** Fills: what a migration has to do with the rows of a large table, done in batches after it, so
 * that nobody waits for it. Any schema may have some, and each process does them (background.c).
 *
 * The migration makes what is filled, and a row of the table `fill`: its name, and the cursor to
 * begin with. Beside the code that reads the rows is the function
 *
 *     fill_NAME(behind text, most int, OUT reached text, OUT seen int)
 *
 * It sees to at most `most` rows behind the cursor, and says which cursor it has reached (null:
 * there was no row left) and how many rows it has seen. A batch and its cursor are one
 * transaction, so each is done exactly once, whichever process does it and dies meanwhile.
 *
 * Statements of both releases change the rows meanwhile: the function locks those of the batch,
 * and only then reads what it fills by. Who waits for these locks waits for one batch. Where the
 * function would wait for others, it gives way, and tries again.
 *
 * Until it is finished, who reads what is filled computes what is lacking: of the rows behind
 * fill_cursor(NAME), which is null from then on. */
#pragma once

#include "loop/request.h"

/** Recurring: do batches, with a pause after each that is as long as it took, for some seconds. */
void fills_go_on(struct request *rq);
extern const int64_t FILLS_EVERY_MS;
