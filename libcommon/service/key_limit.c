#include "service/key_limit.h"

#include <string.h>
#include <strings.h>

void require_interest(struct request *rq, const char *interest)
{
	const char *own = rq->caller.interest;
	if (own && (!interest || strcmp(own, interest) != 0))
		raise_error(rq, ERR_FORBIDDEN, "the key is limited to the interest %s", own);
}

void require_repo(struct request *rq, const char *repo)
{
	const char *own = rq->caller.repo;
	if (own && repo && strcasecmp(own, repo) != 0)
		raise_error(rq, ERR_FORBIDDEN, "the key is limited to the repository %s", own);
}
