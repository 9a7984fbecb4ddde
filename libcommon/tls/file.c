#include "tls/file.h"

#include "base/base.h"

#include <uv.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX_BYTES (1 << 20)

void tls_file_free(char **text)
{
	if (*text)
		explicit_bzero(*text, strlen(*text));
	free(*text);
	*text = NULL;
}

/* Read the `size` bytes of a file. NULL, with errno set: it cannot be read. */
static char *read_all(int fd, size_t size)
{
	char *text = calloc(1, size + 1);
	require(text);
	for (size_t length = 0; length < size;) {
		ssize_t got = read(fd, text + length, size - length);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			tls_file_free(&text);
			return NULL;
		}
		if (got == 0)
			break;
		length += (size_t)got;
	}
	return text;
}

enum err_code tls_file_read(const char *setting, const char *path, mode_t forbidden,
                            struct arena *arena, char **ret_text, const char **ret_reason)
{
	struct stat stat;
	char *text = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &stat) != 0) {
		*ret_reason = arena_printf(arena, "%s: %s: %s", setting, path, uv_strerror(-errno));
	} else if (stat.st_mode & forbidden) {
		*ret_reason =
			arena_printf(arena, "%s: %s is open to all users (mode %03o); chmod 640 it",
		                     setting, path, (unsigned)(stat.st_mode & 0777));
	} else if (!S_ISREG(stat.st_mode) || stat.st_size > FILE_MAX_BYTES) {
		*ret_reason =
			arena_printf(arena, "%s: %s is not a file of at most 1 MiB", setting, path);
	} else {
		text = read_all(fd, (size_t)stat.st_size);
		if (!text)
			*ret_reason = arena_printf(arena, "%s: %s: %s", setting, path,
			                           uv_strerror(-errno));
	}
	if (fd >= 0)
		close(fd);
	*ret_text = text;
	return text ? ERR_NONE : ERR_INVALID;
}

struct file_stamp file_stamp_of(const char *path)
{
	struct stat stat_now;
	struct file_stamp stamp;
	memset(&stamp, 0, sizeof(stamp)); /* the padding, too */
	if (stat(path, &stat_now) == 0) {
		stamp.device = stat_now.st_dev;
		stamp.inode = stat_now.st_ino;
		stamp.size = stat_now.st_size;
		stamp.modified = stat_now.st_mtim;
		stamp.changed = stat_now.st_ctim;
	}
	return stamp;
}
