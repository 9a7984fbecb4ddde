#include "service/connections.h"

#include "base/base.h"

/* What is not for the loops. */
#define OTHERS (CONNECTIONS_LISTEN + CONNECTIONS_BACKGROUND)

enum err_code connections_share(int64_t connections, int64_t workers, int cores,
                                struct connection_shares *ret_shares)
{
	int64_t needed = OTHERS + workers * CONNECTIONS_LOOP_MIN;
	int64_t total = connections ? connections : MAX_OF(CONNECTIONS_DEFAULT, needed);
	if (total < MAX_OF(needed, CONNECTIONS_MIN))
		return ERR_INVALID;
	int64_t fitting = (total - OTHERS) / CONNECTIONS_LOOP_MIN;
	int64_t loops = workers ? workers : MIN_OF(fitting, cores);
	*ret_shares = (struct connection_shares){
		.total = total,
		.loops = (int)loops,
		.per_loop = (int)((total - OTHERS) / loops),
	};
	return ERR_NONE;
}
