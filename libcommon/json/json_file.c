#include "json/json_file.h"

#include "json/json.h"

#include <uv.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The text of a file; NULL: it cannot be read. */
static char *read_open(struct arena *arena, FILE *file, size_t max_bytes, size_t *ret_length,
                       const char **ret_why)
{
	struct stat info;
	if (!file || fstat(fileno(file), &info)) {
		*ret_why = arena_strdup(arena, uv_strerror(uv_translate_sys_error(errno)));
		return NULL;
	}
	if ((size_t)info.st_size > max_bytes) {
		*ret_why = arena_printf(arena, "has over %zu bytes", max_bytes);
		return NULL;
	}
	char *text = arena_alloc(arena, (size_t)info.st_size + 1);
	*ret_length = fread(text, 1, (size_t)info.st_size, file);
	if (!ferror(file))
		return text;
	*ret_why = arena_strdup(arena, uv_strerror(uv_translate_sys_error(errno)));
	return NULL;
}

enum err_code json_file_read(struct arena *arena, const char *path, size_t max_bytes,
                             yyjson_val **ret_root, const char **ret_why)
{
	FILE *file = fopen(path, "rbe");
	size_t length = 0;
	char *text = read_open(arena, file, max_bytes, &length, ret_why);
	if (file)
		fclose(file);
	return text && !json_parse(arena, text, length, ret_root, ret_why) ? ERR_NONE : ERR_INVALID;
}
