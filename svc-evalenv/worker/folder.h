/** The folder of a job, with all that is in it. None of these follows a symbolic link, enters
 * another file system or changes the working directory. They block. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/** The names of the folders of jobs begin so. */
#define FOLDER_PREFIX "expops-job-"

/** Make a folder in `parent`; its path, to be freed with free(). NULL: it cannot be made, errno
 * says why. It is locked (flock(2)) while the descriptor `ret_lock` is open, which no child
 * inherits: a folder of a process that was killed is not locked. */
char *folder_make(const char *parent, int *ret_lock);

/** Lock a folder of jobs that exists: a descriptor, to be closed. -1: it is another user's or no
 * folder, or somebody has it. */
int folder_lock(const char *folder);

/** Whether a file of a few KiB can be made in the folder now. False: errno says why not. */
bool folder_takes_files(const char *folder);

/** Write a file. False: it cannot be written, errno says why. */
bool folder_write(const char *folder, const char *name, const char *text);

/** Write a file of a folder made by folder_make() to the disk, so that it is there after a loss of
 * power. False: errno says why it may not be. */
bool folder_sync(const char *folder, const char *name);

/** Read a file that the job has made: NUL-terminated, to be freed with free(). NULL: it is not a
 * regular file, and `ret_length` is 0; or it has more than `max` bytes, and `ret_length` says how
 * many. */
char *folder_read(const char *folder, const char *name, int64_t max, int64_t *ret_length);

/** Bytes on disk. */
int64_t folder_size(const char *folder);

/** Remove the folder, or all in it but the file `kept` (NULL: none). */
void folder_remove(const char *folder, const char *kept);
