#include "request/audited.h"

#include "audited.sql.h"
#include "base/utf8.h"
#include "input/http_call.h"
#include "pg/pg.h"
#include "reply/resource.h"

#include <string.h>

#define TEXT_MAX 200 /* characters that are kept */

/* The start of a field; null: it is not there, or no text, or no client makes the request. */
static struct pg_param text_of(struct request *rq, const char *name)
{
	const char *value = rq->http ? http_head_get(&rq->http->head, name) : NULL;
	if (!value || !utf8_is_valid(value, strlen(value)))
		return pg_null();
	return pg_text(utf8_shorten(rq->arena, value, TEXT_MAX));
}

void audited_begin(struct request *rq)
{
	pg_begin(rq);
	pg_query(rq, AUDITED_BEGIN_SQL, pg_text(rq->http ? NULL : "operator"), caller_key(rq),
	         text_of(rq, "X-Forwarded-For"), text_of(rq, "User-Agent"));
}
