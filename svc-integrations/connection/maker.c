#include "connection/maker.h"

#include "json/json.h"
#include "maker.sql.h"
#include "pg/pg.h"
#include "provider/provider.h"

/* The providers that are connected by OAuth, as a JSON array. */
static const char *oauth_providers(struct request *rq)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *names = yyjson_mut_arr(doc);
	for (const struct provider *provider = PROVIDERS; provider->name; provider++)
		if (provider->oauth)
			yyjson_mut_arr_add_str(doc, names, provider->name);
	return json_write_mut(rq->arena, names, NULL);
}

void maker_gone(struct request *rq, const struct event *event)
{
	pg_query(rq, MAKER_GONE_SQL, pg_text(event->account),
	         pg_text(json_write(rq->arena, event->data, NULL)), pg_text(oauth_providers(rq)),
	         pg_text(code_host_web_url()));
}
