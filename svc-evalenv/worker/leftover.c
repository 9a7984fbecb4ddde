#include "worker/leftover.h"

#include "base/base.h"
#include "observe/log.h"
#include "worker/builder.h"
#include "worker/child.h"
#include "worker/folder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME_MAX_BYTES 100
#define NAME_PREFIX    "expops-"

bool leftover_expect(const char *folder, const char *name)
{
	return !*builder_remove_script || folder_write(folder, "name", name);
}

/* Whether it can be a word of a script, as the names of runs can. */
static bool is_name(const char *name)
{
	return strncmp(name, NAME_PREFIX, strlen(NAME_PREFIX)) == 0 &&
	       !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-")];
}

static void remove_container(const char *name)
{
	char *script = NULL;
	require(asprintf(&script, "NAME=%s\n%s", name, builder_remove_script) > 0);
	if (!child_try(script, false))
		log_warn("a container may be left", f_text("name", name));
	free(script);
}

void leftover_remove(const char *folder)
{
	int64_t length;
	char *name = folder_read(folder, "name", NAME_MAX_BYTES, &length);
	if (name && is_name(name) && *builder_remove_script)
		remove_container(name);
	free(name);
	folder_remove(folder);
}

static void remove_if_left(const char *folder)
{
	int lock = folder_lock(folder);
	if (lock < 0)
		return;
	log_info("work of a worker that was killed is removed", f_text("folder", folder));
	leftover_remove(folder);
	close(lock);
}

void leftovers_remove(const char *parent)
{
	DIR *folders = opendir(parent);
	for (struct dirent *entry; folders && (entry = readdir(folders));) {
		char *path = NULL;
		if (strncmp(entry->d_name, FOLDER_PREFIX, strlen(FOLDER_PREFIX)) != 0)
			continue;
		require(asprintf(&path, "%s/%s", parent, entry->d_name) > 0);
		remove_if_left(path);
		free(path);
	}
	if (folders)
		closedir(folders);
}
