#include "service/connections.h"

#include "base/base.h"

/* What is not for the loops that answer requests. */
static int64_t others(const struct connection_needs *needs)
{
	return needs->has_background ? CONNECTIONS_BACKGROUND + needs->listens : 0;
}

int64_t connections_needed(const struct connection_needs *needs)
{
	int64_t loops = needs->has_http ? MAX_OF(needs->workers, 1) : 0;
	return others(needs) + loops * CONNECTIONS_LOOP_MIN;
}

enum err_code connections_share(const struct connection_needs *needs,
                                struct connection_shares *ret_shares)
{
	int64_t needed = connections_needed(needs);
	int64_t total =
		needs->connections ? needs->connections : MAX_OF(CONNECTIONS_DEFAULT, needed);
	if (total < needed)
		return ERR_INVALID;
	struct connection_shares shares = {.total = total};
	if (needs->has_http) {
		int64_t left = total - others(needs);
		int64_t fitting = MIN_OF(left / CONNECTIONS_LOOP_MIN, needs->cores);
		shares.loops = (int)(needs->workers ? needs->workers : fitting);
		shares.per_loop = (int)(left / shares.loops);
	}
	if (needs->has_background)
		shares.background =
			needs->has_http ? CONNECTIONS_BACKGROUND : (int)(total - needs->listens);
	*ret_shares = shares;
	return ERR_NONE;
}
