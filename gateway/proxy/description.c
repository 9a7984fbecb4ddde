#include "proxy/description.h"

#include "openapi.h"

void description_get(struct request *rq)
{
	reply_header(rq, "Cache-Control", "public, max-age=300");
	reply_json_length(rq, 200, OPENAPI_JSON, sizeof(OPENAPI_JSON) - 1);
}
