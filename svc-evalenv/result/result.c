#include "result/result.h"

#include "json/json.h"
#include "queue/queue.h"
#include "result/delivery.h"

#define RESULTS_MAX_BYTES ((size_t)8 << 20) /* as the body: BODY_LARGE of libcommon/api.def */

static const char *const STATUSES[] = {"running",   "succeeded", "failed",
                                       "cancelled", "timed_out", NULL};

struct result_input {
	int64_t attempt;
};

static const struct field ARTIFACT[] = {
	JSON_TEXT("name", REQUIRED, 1, 200),
	JSON_REFERENCE("url", REQUIRED, 2048),
	FIELD_END,
};

static const struct field RESULT_FIELDS[] = {
	JSON_UUID("run_id", REQUIRED),
	BODY_INT(struct result_input, attempt, "attempt", OPTIONAL, 1, INT32_MAX, 0),
	JSON_ENUM("status", REQUIRED, STATUSES),
	JSON_OBJECT("metrics", NULLABLE),
	{IN_BODY, FIELD_OBJECT, "results", FIELD_NOWHERE, NULLABLE, .bytes_max = RESULTS_MAX_BYTES},
	JSON_ARRAY_OF("artifacts", NULLABLE, 0, 100, ARTIFACT),
	JSON_OBJECT_OF("error", NULLABLE, ERROR_MEMBERS),
	FIELD_END,
};

void result_deliver(struct request *rq)
{
	const char *run = delivery_run(rq, NULL);
	delivery_id_check(rq);
	metrics_check(rq, "metrics", json_get(request_body(rq), "metrics"));
	struct result_input *in = request_input(rq, struct result_input, RESULT_FIELDS);
	delivery_take(rq, &(struct delivery){
				  .run = run,
				  .attempt = in->attempt,
				  .result = request_body_json(rq),
			  });
}
