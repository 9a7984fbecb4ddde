#include "program/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES_MAX ((size_t)64 * 1024 * 1024)
#define READ_BYTES     ((size_t)64 * 1024)
#define FOLDER_MODE    0700
#define FILE_MODE      0600

const char *file_path(struct cli *cli, const char *variable, const char *fallback, const char *name)
{
	const char *folder = getenv(variable), *home = getenv("HOME");
	if (folder && *folder == '/') /* the specification: relative paths are ignored */
		return arena_printf(cli->arena, "%s/expops/%s", folder, name);
	if (!home || !*home)
		cli_fail(EXIT_FAILED, "HOME is not set");
	return arena_printf(cli->arena, "%s/%s/expops/%s", home, fallback, name);
}

const char *file_reason(struct cli *cli)
{
	char text[128];
	return arena_strdup(cli->arena, strerror_r(errno, text, sizeof(text)));
}

char *file_read(struct cli *cli, const char *path, size_t *ret_length)
{
	bool is_input = strcmp(path, "-") == 0;
	int fd = is_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return NULL;
	struct buf content = {.arena = cli->arena};
	buf_puts(&content, "");
	ssize_t size = fd < 0 ? -1 : 0;
	do {
		char chunk[READ_BYTES];
		size = fd < 0 ? -1 : read(fd, chunk, sizeof(chunk));
		if (size > 0)
			buf_add(&content, chunk, (size_t)size);
	} while ((size > 0 && content.length <= FILE_BYTES_MAX) || (size < 0 && errno == EINTR));
	if (size < 0)
		cli_fail(EXIT_FAILED, "%s cannot be read: %s", path, file_reason(cli));
	if (content.length > FILE_BYTES_MAX)
		cli_fail(EXIT_FAILED, "%s has more than %zu MiB", path, FILE_BYTES_MAX >> 20);
	if (!is_input)
		close(fd);
	*ret_length = content.length;
	return content.data;
}

char *file_read_text(struct cli *cli, const char *path, size_t *ret_length)
{
	char *text = file_read(cli, path, ret_length);
	if (!text)
		cli_fail(EXIT_FAILED, "there is no file %s", path);
	cli_check_text(cli, strcmp(path, "-") == 0 ? "standard input" : path, text, *ret_length);
	return text;
}

/* Make the folders above a path. */
static bool make_folders(struct cli *cli, const char *path)
{
	char *folder = arena_strdup(cli->arena, path);
	for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(folder, FOLDER_MODE) < 0 && errno != EEXIST)
			return false;
		*slash = '/';
	}
	return true;
}

static bool write_all(int fd, const char *text, size_t length)
{
	while (length > 0) {
		ssize_t size = write(fd, text, length);
		if (size < 0 && errno != EINTR)
			return false;
		text += MAX_OF(size, 0);
		length -= (size_t)MAX_OF(size, 0);
	}
	return true;
}

bool file_write(struct cli *cli, const char *path, const char *text)
{
	char *new_path = arena_printf(cli->arena, "%s.XXXXXX", path);
	if (!make_folders(cli, path))
		return false;
	int fd = mkostemp(new_path, O_CLOEXEC); /* mode 0600 */
	if (fd < 0)
		return false;
	bool is_written =
		write_all(fd, text, strlen(text)) && fchmod(fd, FILE_MODE) == 0 && fsync(fd) == 0;
	close(fd);
	if (is_written && rename(new_path, path) == 0)
		return true;
	int why = errno;
	unlink(new_path);
	errno = why;
	return false;
}
