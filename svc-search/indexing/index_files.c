#include "indexing/index_files.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "index-"
#define SUFFIX ".snapshot"

const char *index_files_path(struct arena *arena, const char *dir, const char *source)
{
	return arena_printf(arena, "%s/" PREFIX "%s" SUFFIX, dir, source);
}

int index_files_prepare(const char *dir)
{
	if (mkdir(dir, 0700) != 0 && errno != EEXIST)
		return errno;
	return access(dir, W_OK | X_OK) == 0 ? 0 : errno;
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
		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0 &&
		    strstr(entry->d_name, SUFFIX) && strcmp(entry->d_name, name) != 0)
			unlinkat(dirfd(folder), entry->d_name, 0);
	closedir(folder);
}
