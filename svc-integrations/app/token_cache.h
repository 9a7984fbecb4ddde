/** Tokens of installations that the process has made, so that not each call of the code host costs
 * one: the code host counts how often the app makes them, and that limit is one for all accounts.
 *
 * A token is found by what it was made for: the installation, the repository and the permissions.
 * It is given out until five minutes before it ends, so that no call is under way at its end, and
 * dropped when the code host refuses it. At most 256 are kept, those used last. Their memory is
 * wiped. Thread-safe. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/** A token, and when it was made. */
struct cached_token {
	const char *token;
	int64_t made_ms; /* time_monotonic_ms() */
};

/** Find a token that was made for `use`, and copy it into the arena, which should be wiped when it
 * is freed. False: there is none. */
bool token_cache_get(struct arena *arena, const char *use, int64_t now_ms,
                     struct cached_token *ret_token);

/** Keep a token, which ends at `expires_ms`; `now_ms` is the time of the same clock,
 * time_now_ms(). One that ends within five minutes, or is longer than 1,023 bytes, is not kept. */
void token_cache_put(const char *use, const struct cached_token *token, int64_t expires_ms,
                     int64_t now_ms);

/** What to do with a token after an answer that may be its fault. */
enum token_remedy {
	TOKEN_IS_RIGHT,  /* the answer is not its fault */
	TOKEN_USE_AGAIN, /* after a moment: not all servers of the code host know it yet */
	TOKEN_REPLACE,   /* by another one, and make the call again */
	TOKEN_DROP,      /* it stays refused */
	/* By another one, if one can be had; and that only where a new one would be made for
	 * another installation or other permissions. */
	TOKEN_TRY_ANOTHER,
	TOKEN_COMPARE,
};

/** The remedy for a token of this age that was answered 401, 403 or 404, and used again `waits`
 * times before. A refused one (401) is used again twice when it was made less than five seconds
 * ago. 403 and 404 are everyday answers about what is not there. They are believed for a minute of
 * the token's life, and for twenty as long as what is known of the installation is what it was. */
enum token_remedy token_remedy_of(int status, int64_t age_ms, unsigned waits);

/** Drop the token of `use`, unless another one took its place meanwhile. */
void token_cache_drop(const char *use, const char *token);
