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
#define NAME_FILE      "name"

bool leftover_expect(const char *folder, const char *name)
{
	return !*builder_remove_script ||
	       (folder_write(folder, NAME_FILE, name) && folder_sync(folder, NAME_FILE));
}

/* Whether it can be a word of a script, as the names of runs can. */
static bool is_name(const char *name)
{
	return strncmp(name, NAME_PREFIX, strlen(NAME_PREFIX)) == 0 &&
	       !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-")];
}

static bool remove_container(const char *name)
{
	char *script = NULL;
	require(asprintf(&script, "NAME=%s\n%s", name, builder_remove_script) > 0);
	bool is_gone = child_try(script, false);
	if (!is_gone)
		log_warn("a container may be left", f_text("name", name));
	free(script);
	return is_gone;
}

bool leftover_remove(const char *folder)
{
	int64_t length;
	char *name = folder_read(folder, NAME_FILE, NAME_MAX_BYTES, &length);
	bool is_gone = !name || !is_name(name) || !*builder_remove_script || remove_container(name);
	free(name);
	folder_remove(folder, is_gone ? NULL : NAME_FILE);
	return is_gone;
}

static bool remove_if_left(const char *folder)
{
	int lock = folder_lock(folder);
	if (lock < 0)
		return true;
	bool is_gone = leftover_remove(folder);
	if (is_gone)
		log_info("work that was left behind was removed", f_text("folder", folder));
	close(lock);
	return is_gone;
}

bool leftovers_remove(const char *parent)
{
	bool are_gone = true;
	DIR *folders = opendir(parent);
	for (struct dirent *entry; folders && (entry = readdir(folders));) {
		char *path = NULL;
		if (strncmp(entry->d_name, FOLDER_PREFIX, strlen(FOLDER_PREFIX)) != 0)
			continue;
		require(asprintf(&path, "%s/%s", parent, entry->d_name) > 0);
		are_gone &= remove_if_left(path);
		free(path);
	}
	if (folders)
		closedir(folders);
	return are_gone;
}
