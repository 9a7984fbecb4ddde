#include "worker/folder.h"

#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define DISK_BLOCK 512 /* of st_blocks */
#define TRIES_MAX  10
#define TRY_BYTES  4096 /* more than a file system keeps beside the name of a file */

int folder_lock(const char *folder)
{
	struct stat is;
	int lock = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (lock < 0)
		return -1;
	/* The last: removed by who had locked it before. */
	if (fstat(lock, &is) == 0 && is.st_uid == geteuid() &&
	    flock(lock, LOCK_EX | LOCK_NB) == 0 && fstat(lock, &is) == 0 && is.st_nlink > 0)
		return lock;
	close(lock);
	return -1;
}

/* Another worker that starts may take a folder that is not locked yet for one that was left. */
char *folder_make(const char *parent, int *ret_lock)
{
	for (int tries = 0; tries < TRIES_MAX; tries++) {
		char *path = NULL;
		require(asprintf(&path, "%s/" FOLDER_PREFIX "XXXXXX", parent) > 0);
		*ret_lock = mkdtemp(path) ? folder_lock(path) : -1;
		if (*ret_lock >= 0)
			return path;
		free(path);
	}
	return NULL;
}

static char *path_of(const char *folder, const char *name)
{
	char *path = NULL;
	require(asprintf(&path, "%s/%s", folder, name) > 0);
	return path;
}

bool folder_write(const char *folder, const char *name, const char *text)
{
	char *path = path_of(folder, name);
	FILE *file = fopen(path, "wxe");
	free(path);
	if (!file)
		return false;
	int why = fputs(text, file) >= 0 ? 0 : errno;
	if (fclose(file) != 0 && !why)
		why = errno;
	errno = why;
	return !why;
}

/* The file has no name, so that nobody takes it for work. */
bool folder_takes_files(const char *folder)
{
	char text[TRY_BYTES] = "";
	char *path = path_of(folder, "expops-try-XXXXXX");
	int file = mkostemp(path, O_CLOEXEC);
	if (file >= 0)
		(void)unlink(path);
	free(path);
	if (file < 0)
		return false;
	ssize_t length = write(file, text, TRY_BYTES);
	int why = length == TRY_BYTES ? 0 : length < 0 ? errno : ENOSPC;
	if (close(file) != 0 && !why)
		why = errno;
	errno = why;
	return !why;
}

static bool sync_path(char *path)
{
	int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	free(path);
	if (file < 0)
		return false;
	int why = fsync(file) == 0 ? 0 : errno;
	close(file);
	errno = why;
	return !why;
}

bool folder_sync(const char *folder, const char *name)
{
	return sync_path(path_of(folder, name)) && sync_path(path_of(folder, ".")) &&
	       sync_path(path_of(folder, ".."));
}

/* NULL: it cannot be read. It may have become shorter. */
static char *read_all(int file, size_t size, int64_t *ret_length)
{
	char *text = calloc(1, size + 1);
	ssize_t more = 1;
	require(text);
	for (*ret_length = 0; more > 0; *ret_length += MAX_OF(more, 0))
		more = read(file, text + *ret_length, size - (size_t)*ret_length);
	if (more == 0)
		return text;
	*ret_length = 0;
	free(text);
	return NULL;
}

char *folder_read(const char *folder, const char *name, int64_t max, int64_t *ret_length)
{
	char *path = path_of(folder, name), *text = NULL;
	/* Not blocked by a pipe of that name. */
	int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	free(path);
	struct stat is;
	*ret_length = 0;
	if (file < 0)
		return NULL;
	if (fstat(file, &is) == 0 && S_ISREG(is.st_mode)) {
		*ret_length = is.st_size;
		text = is.st_size <= max ? read_all(file, (size_t)is.st_size, ret_length) : NULL;
	}
	close(file);
	return text;
}

static FTS *walk(const char *folder)
{
	char *const roots[] = {(char *)folder, NULL};
	return fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
}

int64_t folder_size(const char *folder)
{
	int64_t size = 0;
	FTS *tree = walk(folder);
	for (FTSENT *entry; tree && (entry = fts_read(tree));)
		if (entry->fts_info != FTS_D && entry->fts_info != FTS_NS)
			size += entry->fts_statp->st_blocks * DISK_BLOCK;
	if (tree)
		fts_close(tree);
	return size;
}

static bool is_kept(const FTSENT *entry, const char *kept)
{
	return kept && entry->fts_level == 1 && strcmp(entry->fts_name, kept) == 0;
}

void folder_remove(const char *folder, const char *kept)
{
	FTS *tree = walk(folder);
	for (FTSENT *entry; tree && (entry = fts_read(tree));) {
		if (entry->fts_info == FTS_D)
			(void)chmod(entry->fts_accpath, S_IRWXU); /* so that its entries can go */
		else if (entry->fts_info == FTS_DP)
			(void)rmdir(entry->fts_accpath);
		else if (!is_kept(entry, kept))
			(void)unlink(entry->fts_accpath);
	}
	if (tree)
		fts_close(tree);
}
