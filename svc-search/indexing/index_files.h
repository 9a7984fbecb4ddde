/** The index on disk: one file in a folder that a replica has for itself, named by the database
 * that it was made from. */
#pragma once

#include "base/arena.h"

/** `DIR/index-SOURCE.snapshot`, in the arena. */
const char *index_files_path(struct arena *arena, const char *dir, const char *source);

/** Make the folder if there is none. Returns 0, or the errno why files cannot be written there. */
int index_files_prepare(const char *dir);

/** Remove what other databases and interrupted savings have left in the folder of `path`. */
void index_files_tidy(const char *path);
