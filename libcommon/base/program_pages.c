#include "base/program_pages.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HEX 16

/* One of /proc/self/smaps. */
struct mapping {
	uintptr_t start, end;
	bool is_writable;
	bool has_written; /* pages that are not as in the file, in memory or in swap space */
};

static bool is_of_program(const struct mapping *mapping)
{
	struct dl_find_object object;
	return _dl_find_object((void *)mapping->start, &object) == 0;
}

static void release(const struct mapping *mapping)
{
	if (!mapping->is_writable && !mapping->has_written && is_of_program(mapping))
		(void)madvise((void *)mapping->start, mapping->end - mapping->start, MADV_DONTNEED);
}

/* The text behind `name`; NULL when the line begins otherwise. */
static const char *field(const char *line, const char *name)
{
	size_t length = strlen(name);
	return strncmp(line, name, length) == 0 ? line + length : NULL;
}

static void read_field(struct mapping *mapping, const char *line)
{
	const char *written = field(line, "Anonymous:");
	if (!written)
		written = field(line, "Swap:");
	if (written && strtoull(written, NULL, 10) > 0)
		mapping->has_written = true;
	else if (field(line, "VmFlags:"))
		release(mapping);
}

/* A mapping is a line with its addresses, access and path, then lines of fields, the last of which
 * are its flags:
 *
 *     7f0b2a628000-7f0b2a77d000 r-xp 00026000 fe:00 1234      /usr/lib/x86_64-linux-gnu/libc.so.6
 *     Rss:                 896 kB
 *     Anonymous:             0 kB
 *     Swap:                  0 kB
 *     VmFlags: rd ex mr mw me
 */
static void read_line(struct mapping *mapping, const char *line)
{
	char *at;
	uintptr_t start = strtoull(line, &at, HEX);
	if (at == line || *at != '-') {
		read_field(mapping, line);
		return;
	}
	uintptr_t end = strtoull(at + 1, &at, HEX);
	bool is_writable = !field(at, " r--") && !field(at, " r-x");
	*mapping = (struct mapping){.start = start, .end = end, .is_writable = is_writable};
}

void program_pages_release(void)
{
	struct mapping mapping = {0};
	char *line = NULL;
	size_t size = 0;
	FILE *file = fopen("/proc/self/smaps", "re");
	if (!file)
		return;
	while (getline(&line, &size, file) > 0)
		read_line(&mapping, line);
	free(line);
	fclose(file);
}
