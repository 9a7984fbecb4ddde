/** The snapshot of the index on disk: one file in a folder that no other replica uses, named after
 * the database that the index was built from. */
#pragma once

#include "base/arena.h"

/** `DIR/index-SOURCE.snapshot`, in the arena. */
const char *index_files_path(struct arena *arena, const char *dir, const char *source);

/** `DIR/index-SOURCE.training`, in the arena: the checkpoint of a training. */
const char *index_files_training_path(struct arena *arena, const char *dir, const char *source);

/** Create the folder if it is missing. Returns 0, or the errno why no file can be written there. */
int index_files_prepare(const char *dir);

/** Remove, from the folder of the snapshot `path`, snapshots and checkpoints of other databases and
 * files of interrupted saves. */
void index_files_tidy(const char *path);
