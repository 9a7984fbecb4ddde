/** Whether the user of a Redis URL may do what it is about to need: asked with blocking calls, on a
 * connection of its own, by a thread that may wait. */
#pragma once

#include <stddef.h>

#define REDIS_WORDS_MAX 4

struct redis_words {
	const char *words[REDIS_WORDS_MAX]; /* NULL-terminated */
};

/** Run the commands, which should change nothing, until the server refuses one because the user
 * lacks the permission. Returns its place; `count`: none was refused for that, or the server cannot
 * be asked now. */
size_t redis_permission_lacking(const char *url, const struct redis_words *commands, size_t count);
