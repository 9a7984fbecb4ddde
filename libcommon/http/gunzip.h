/** The content coding gzip (RFC 9110 section 8.4.1.3) of requests: decoding. */
#pragma once

#include "base/arena.h"
#include "http/head.h"

#include <stdbool.h>
#include <stddef.h>

/** What the fields Content-Encoding say. */
enum content_coding {
	CODING_NONE, /* there are none, or only `identity` */
	CODING_GZIP, /* `gzip` or `x-gzip`, once; letters' case is ignored */
	CODING_OTHER,
};

enum content_coding content_coding_of(const struct http_head *head);

struct gunzip;

/** Start to decode `length` bytes at `data`, which are borrowed; freed with the arena. They are one
 * or more members (RFC 1952 section 2.2) and nothing else. */
struct gunzip *gunzip_new(struct arena *arena, const char *data, size_t length);

enum gunzip_status {
	GUNZIP_MORE,      /* call again */
	GUNZIP_END,       /* this was the end of the last member */
	GUNZIP_INVALID,   /* it is not gzip, is damaged, or something follows the last member */
	GUNZIP_TRUNCATED, /* it ends within a member */
};

/** Write the next decoded bytes, at most `room`, which is not 0. Any thread. A megabyte takes about
 * 3 ms. */
enum gunzip_status gunzip_read(struct gunzip *gunzip, char *out, size_t room, size_t *ret_length);

/** Bytes that are not decoded yet. */
size_t gunzip_left(const struct gunzip *gunzip);
