#include "indexing/index_files.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX          "index-"
#define SUFFIX          ".snapshot"
#define TRAINING_SUFFIX ".training"

const char *index_files_path(struct arena *arena, const char *dir, const char *source)
{
	return arena_printf(arena, "%s/" PREFIX "%s" SUFFIX, dir, source);
}

const char *index_files_training_path(struct arena *arena, const char *dir, const char *source)
{
	return arena_printf(arena, "%s/" PREFIX "%s" TRAINING_SUFFIX, dir, source);
}

int index_files_prepare(const char *dir)
{
	if (mkdir(dir, 0700) != 0 && errno != EEXIST)
		return errno;
	return access(dir, W_OK | X_OK) == 0 ? 0 : errno;
}

/* Whether the file is one of ours, but neither the snapshot `name` nor the checkpoint beside it. */
static bool is_stale(const char *file, const char *name)
{
	size_t stem = strlen(name) - strlen(SUFFIX);
	if (strncmp(file, PREFIX, strlen(PREFIX)) != 0 ||
	    (!strstr(file, SUFFIX) && !strstr(file, TRAINING_SUFFIX)))
		return false;
	return strcmp(file, name) != 0 &&
	       (strncmp(file, name, stem) != 0 || strcmp(file + stem, TRAINING_SUFFIX) != 0);
}

void index_files_tidy(const char *path)
{
	char dir[PATH_MAX];
	const char *name = strrchr(path, '/') + 1;
	snprintf(dir, sizeof(dir), "%.*s", (int)(name - path), path);
	DIR *folder = opendir(dir);
	if (!folder)
		return;
	for (struct dirent *entry; (entry = readdir(folder));)
		if (is_stale(entry->d_name, name))
			unlinkat(dirfd(folder), entry->d_name, 0);
	closedir(folder);
}
