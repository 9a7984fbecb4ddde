#include "base/base.h"
#include "export/store.h"

#include <uv.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PARTIAL ".partial"

static const char *path_of(struct request *rq, const struct store *store, const char *name)
{
	return arena_printf(rq->arena, "%s/%s", store->folder, name);
}

static attr_noreturn void raise_path(struct request *rq, const char *path)
{
	raise_error(rq, ERR_INVALID, "%s: %s", path, uv_strerror(uv_translate_sys_error(errno)));
}

static void folder_open(struct request *rq, const struct store *store)
{
	struct stat found;
	if (stat(store->folder, &found) < 0)
		raise_path(rq, store->folder);
	errno = ENOTDIR;
	if (!S_ISDIR(found.st_mode) || access(store->folder, W_OK) < 0)
		raise_path(rq, store->folder);
}

static bool folder_has(struct request *rq, const struct store *store, const char *name)
{
	const char *path = path_of(rq, store, name);
	if (access(path, F_OK) == 0)
		return true;
	if (errno != ENOENT)
		raise_path(rq, path);
	return false;
}

/* Whether it is a partial file of `name`: `.NAME.XXXXXX.partial`, or `.NAME.partial` of the former
 * release. */
static bool is_partial(const char *file, const char *name)
{
	size_t length = strlen(name), all = strlen(file);
	return file[0] == '.' && strncmp(file + 1, name, length) == 0 && file[1 + length] == '.' &&
	       all >= strlen(PARTIAL) && strcmp(file + all - strlen(PARTIAL), PARTIAL) == 0;
}

static void remove_partial(struct request *rq, const struct store *store, const char *name)
{
	DIR *folder = opendir(store->folder);
	if (!folder)
		raise_path(rq, store->folder);
	for (struct dirent *entry; (entry = readdir(folder));)
		if (is_partial(entry->d_name, name))
			(void)unlinkat(dirfd(folder), entry->d_name, 0);
	closedir(folder);
}

/* Only its owner may read what runs were about. */
static struct store_file *folder_begin(struct request *rq, const struct store *store,
                                       const char *name)
{
	struct store_file *file = arena_new_of(rq->arena, struct store_file);
	char *path = arena_printf(rq->arena, "%s/.%s.XXXXXX" PARTIAL, store->folder, name);
	remove_partial(rq, store, name);
	int descriptor = mkostemps(path, (int)strlen(PARTIAL), O_CLOEXEC);
	file->path = path;
	file->file = descriptor >= 0 ? fdopen(descriptor, "w+") : NULL;
	if (!file->file)
		raise_path(rq, path);
	return file;
}

static void sync_folder(struct request *rq, const struct store *store)
{
	int descriptor = open(store->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (descriptor < 0 || fsync(descriptor) < 0)
		raise_path(rq, store->folder);
	close(descriptor);
}

static void folder_keep(struct request *rq, const struct store *store, const char *name,
                        const struct store_file *file)
{
	if (fflush(file->file) != 0 || fsync(fileno(file->file)) < 0 ||
	    rename(file->path, path_of(rq, store, name)) < 0)
		raise_path(rq, file->path);
	sync_folder(rq, store);
}

const struct store_kind FOLDER_STORE = {folder_open, folder_has, folder_begin, folder_keep};
