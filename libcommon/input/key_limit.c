#include "input/key_limit.h"

#include "service/repository_name.h"

#include <string.h>

bool key_is_limited(const struct request *rq)
{
	return rq->caller.repo || rq->caller.interest;
}

void require_interest(struct request *rq, const char *interest)
{
	const char *own = rq->caller.interest;
	if (own && (!interest || strcmp(own, interest) != 0))
		raise_error(rq, ERR_FORBIDDEN, "the key is limited to the interest %s", own);
}

bool repo_check(const char *text, size_t length, const char **ret_message)
{
	static const char PART[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	size_t owner = strspn(text, PART);
	size_t name = text[owner] == '/' ? strspn(text + owner + 1, PART) : 0;
	*ret_message = "must be owner/name";
	return owner && name && owner + 1 + name == length;
}

void require_repo(struct request *rq, const char *repo)
{
	const char *own = rq->caller.repo;
	if (own && repo && !repository_is_same(rq, own, repo))
		raise_error(rq, ERR_FORBIDDEN, "the key is limited to the repository %s", own);
}

void require_repo_of(struct request *rq, const char *repo, const char *missing)
{
	if (rq->caller.repo && !repo)
		raise_error(rq, ERR_NOT_FOUND, "%s", missing);
	require_repo(rq, repo);
}
