/** The database of a process before it is used. */
#pragma once

#include "base/error.h"
#include "service/process.h"

#define DATABASE_RETRY_MS 500 /* until a database that is away is asked again */

/** Check the role's settings, on the way that statements take, and migrate the schema. Blocks.
 * ERR_UNAVAILABLE: the database is away. Any other error is logged, and stays until somebody
 * corrects the database. */
enum err_code database_prepare(const struct process *process);
