/** Capturing what a tested function writes to a descriptor such as standard output. */
#pragma once

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

struct capture {
	int fd;    /* the captured descriptor */
	int saved; /* a duplicate of the original */
	int file;
};

/** Start capturing what is written to `fd`. */
static inline struct capture capture_start(int fd)
{
	fflush(NULL);
	struct capture capture = {fd, dup(fd), memfd_create("capture", MFD_CLOEXEC)};
	assert_true(capture.saved >= 0 && capture.file >= 0);
	assert_int_equal(dup2(capture.file, fd), fd);
	return capture;
}

/** Stop, and copy the captured text and a NUL into `out`, which must have room. Returns its
 * length. */
static inline size_t capture_stop(struct capture *capture, char *out, size_t size)
{
	fflush(NULL);
	assert_int_equal(dup2(capture->saved, capture->fd), capture->fd);
	close(capture->saved);
	ssize_t length = pread(capture->file, out, size, 0);
	close(capture->file);
	assert_in_range(length, 0, size - 1);
	out[length] = '\0';
	return (size_t)length;
}
