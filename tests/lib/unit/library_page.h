/** A page of constants in a shared library, which nothing but the test reads. */
#pragma once

#include <zlib.h>

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

/** A constant in it. */
static inline const volatile uint32_t *library_constant(void)
{
	return (const volatile uint32_t *)&get_crc_table()[1];
}

/** Whether the process has the page at `at` in memory: bit 63 of its pagemap, see proc(5). */
static inline bool page_is_present(pid_t pid, const volatile void *at)
{
	char path[64];
	uint64_t entry;
	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	int file = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(file >= 0);
	off_t offset = (off_t)((uintptr_t)at / (size_t)sysconf(_SC_PAGESIZE) * sizeof(entry));
	assert_int_equal(pread(file, &entry, sizeof(entry), offset), sizeof(entry));
	close(file);
	return entry >> 63;
}
