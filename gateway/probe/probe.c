#include "probe/probe.h"

#include "base/version.h"
#include "input/input.h"
#include "main/admin.h"
#include "reply/reply.h"

void probe_healthz(struct request *rq)
{
	request_input_none(rq);
	reply_header(rq, "Cache-Control", "no-store");
	reply_json(rq, 200, "{\"status\":\"ok\"}");
}

void probe_readyz(struct request *rq)
{
	request_input_none(rq);
	bool is_ready = worker_is_ready(rq->worker);
	reply_header(rq, "Cache-Control", "no-store");
	reply_json(rq, is_ready ? 200 : 503,
	           is_ready ? "{\"status\":\"ready\"}" : "{\"status\":\"unready\"}");
}

void version_get(struct request *rq)
{
	request_input_none(rq);
	reply_json(rq, 200,
	           arena_printf(rq->arena,
	                        "{\"name\":\"expops\",\"version\":\"" EXPOPS_VERSION
	                        "\",\"commit\":\"%s\",\"api\":\"v1.0\"}",
	                        version_commit));
}
