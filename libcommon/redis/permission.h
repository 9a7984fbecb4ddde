/** Whether the user of a Redis URL may do what it is about to need: asked on a connection of its
 * own, by a thread that may wait. */
#pragma once

#include <stddef.h>

struct tls_trust;

#define REDIS_WORDS_MAX 4

struct redis_words {
	const char *words[REDIS_WORDS_MAX]; /* NULL-terminated */
};

/** Run the commands, which should change nothing, and find the first that the server refuses
 * because the user lacks the permission. Returns its place; `count`: none was refused for that, or
 * the server cannot be asked now. `trust` as in redis_new(). */
size_t redis_permission_lacking(const char *url, struct tls_trust *trust,
                                const struct redis_words *commands, size_t count);
