/** What work leaves behind where nothing has ended it in order: the container of a run, which goes
 * on without the program that began it, its control groups, and the folder of the job.
 *
 * The folder of a run has the file `name` as long as there may be a container of that name; the
 * run's script removes it with the container. While the container cannot be removed, as its engine
 * does not answer, the folder stays with that file. A worker locks the folders of its jobs
 * (folder.h), so a folder that can be locked is one that was left, whatever the names of the two:
 * two workers with the same name, or the same WORK_DIR, leave each other's work alone.
 */
#pragma once

#include <stdbool.h>

/** Note in the folder of a run that a container `name` may come. False: it cannot be written,
 * errno says why. */
bool leftover_expect(const char *folder, const char *name);

/** Remove a container that is expected, and the folder, which the caller has locked. Blocks, for
 * two minutes at most where a container is to be removed. False: the container may be left, and so
 * is the file `name`. */
bool leftover_remove(const char *folder);

/** The same for each folder of jobs in `parent` that nobody has locked. Blocks. */
bool leftovers_remove(const char *parent);
