#include "request/audited.h"

#include "audited.sql.h"
#include "base/utf8.h"
#include "input/http_call.h"
#include "json/json.h"
#include "pg/pg.h"
#include "reply/resource.h"

#include <string.h>

#define TEXT_MAX 200 /* characters that are kept */

/* The start of a field; NULL: it is not there, or no text, or no client makes the request. */
static const char *text_of(struct request *rq, const char *name)
{
	const char *value = rq->http ? http_head_get(&rq->http->head, name) : NULL;
	if (!value || !utf8_is_valid(value, strlen(value)))
		return NULL;
	return utf8_shorten(rq->arena, value, TEXT_MAX);
}

const char *audited_by(struct request *rq)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *by = yyjson_mut_obj(doc);
	json_add_text(doc, by, "kind", rq->http ? NULL : "operator"); /* a command */
	json_add_text(doc, by, "key_id", caller_key(rq).text);
	json_add_text(doc, by, "ip", text_of(rq, "X-Forwarded-For"));
	json_add_text(doc, by, "user_agent", text_of(rq, "User-Agent"));
	return json_write_mut(rq->arena, by, NULL);
}

void audited_begin_for(struct request *rq, const char *by)
{
	pg_begin(rq);
	pg_query(rq, AUDITED_BEGIN_SQL, pg_text(by ? by : audited_by(rq)));
}

void audited_begin(struct request *rq)
{
	audited_begin_for(rq, NULL);
}
