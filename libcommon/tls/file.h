/** Files of certificates and keys: reading one, and noticing that it has changed. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>

/** Read a file of at most 1 MiB, which nobody in `forbidden` (of its mode) may open. ERR_INVALID:
 * it cannot be read, is too large, or is open to them; `ret_reason`, in the arena, names the
 * setting and the file. The caller frees the text with tls_file_free(). */
enum err_code tls_file_read(const char *setting, const char *path, mode_t forbidden,
                            struct arena *arena, char **ret_text, const char **ret_reason);

/** Wipe and free what was read, and set it to NULL. */
void tls_file_free(char **text);

/** What a file looks like from outside; all 0: it is missing. */
struct file_stamp {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec modified, changed; /* the content; the mode and the owner, too */
};

/** Stamps can be compared as bytes. */
struct file_stamp file_stamp_of(const char *path);
