#include "base/base.h"
#include "export/store.h"

#include <uv.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *path_of(struct request *rq, const struct store *store, const char *name)
{
	return arena_printf(rq->arena, "%s/%s", store->folder, name);
}

static const char *partial_path_of(struct request *rq, const struct store *store, const char *name)
{
	return arena_printf(rq->arena, "%s/.%s.partial", store->folder, name);
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

/* Only its owner may read what runs were about. */
static FILE *folder_begin(struct request *rq, const struct store *store, const char *name)
{
	const char *path = partial_path_of(rq, store, name);
	int descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	FILE *file = descriptor >= 0 ? fdopen(descriptor, "w+") : NULL;
	if (!file)
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

static void folder_keep(struct request *rq, const struct store *store, const char *name, FILE *file)
{
	const char *partial = partial_path_of(rq, store, name);
	if (fflush(file) != 0 || fsync(fileno(file)) < 0 ||
	    rename(partial, path_of(rq, store, name)) < 0)
		raise_path(rq, partial);
	sync_folder(rq, store);
}

const struct store_kind FOLDER_STORE = {folder_open, folder_has, folder_begin, folder_keep};
