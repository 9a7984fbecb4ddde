#include "engine/text/file.h"

#include "engine/text/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

bool file_write(int file, const void *data, size_t length)
{
	const char *at = data;
	while (length > 0) {
		ssize_t written = write(file, at, MIN_OF(length, (size_t)1 << 30));
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		at += written;
		length -= (size_t)written;
	}
	return true;
}

/* Make a rename durable: sync the folder of `path`. */
static bool sync_folder(const char *path)
{
	size_t size = strlen(path) + 1;
	mem_auto_free char *copy = mem_array(size, 1); /* dirname() changes its argument */
	memcpy(copy, path, size);
	int folder = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return false;
	bool is_synced = fsync(folder) == 0;
	close(folder);
	return is_synced;
}

bool file_replace(const char *path, file_content_cb *content, const void *ctx)
{
	char temporary[PATH_MAX];
	int length = snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path);
	if (length < 0 || (size_t)length >= sizeof(temporary)) {
		errno = ENAMETOOLONG;
		return false;
	}
	int file = mkostemp(temporary, O_CLOEXEC);
	if (file < 0)
		return false;
	bool is_written = content(file, ctx) && fsync(file) == 0;
	is_written = close(file) == 0 && is_written;
	if (is_written && rename(temporary, path) == 0)
		return sync_folder(path);
	int saved_errno = errno;
	unlink(temporary);
	errno = saved_errno;
	return false;
}
