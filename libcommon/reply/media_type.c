#include "reply/media_type.h"

#include "base/arena.h"
#include "http/accept.h"
#include "input/http_call.h"
#include "reply/reply.h"

const char *const JSON_OR_CSV[] = {"application/json", "text/csv", NULL};

static size_t count_of(const char *const *types)
{
	size_t count = 0;
	while (types[count])
		count++;
	return count;
}

/* "application/json, text/csv or text/plain" */
static const char *list_of(struct arena *arena, const char *const *types, size_t count)
{
	struct buf list = {.arena = arena};
	for (size_t i = 0; i < count; i++)
		buf_printf(&list, "%s%s", i == 0 ? "" : i + 1 == count ? " or " : ", ", types[i]);
	return list.data;
}

size_t reply_choose(struct request *rq, const char *const *types)
{
	size_t count = count_of(types);
	size_t chosen = http_accept_choose(&rq->http->head, types, count);
	if (chosen == HTTP_ACCEPT_NONE)
		raise_error(rq, ERR_NOT_ACCEPTABLE, "Accept must allow %s",
		            list_of(rq->arena, types, count));
	reply_header(rq, "Vary", "Accept");
	return chosen;
}
