#include "base/utf8.h"
#include "json/json.h"
#include "queue/queue.h"
#include "result/delivery.h"
#include "result/result.h"

#include <string.h>

#define OUTPUT_MAX_BYTES ((size_t)8 << 20) /* as the body: BODY_LARGE of libcommon/api.def */
#define MESSAGE_MAX      2000

/* The words of platforms, and our status of a run. */
static const struct state {
	const char *name, *status;
} STATES[] = {
	{"pending", "pending"},   {"running", "running"},     {"succeeded", "succeeded"},
	{"success", "succeeded"}, {"completed", "succeeded"}, {"failed", "failed"},
	{"failure", "failed"},    {"error", "failed"},        {"cancelled", "cancelled"},
	{"timeout", "timed_out"},
};

static const char *const STATE_NAMES[] = {"pending",   "running", "succeeded", "success",
                                          "completed", "failed",  "failure",   "error",
                                          "cancelled", "timeout", NULL};

struct hosted_input {
	const char *call_id, *job_id, *state;
};

/* clang-format off */
#define MEMBERS                                                                                      \
	JSON_UUID("run_id", NULLABLE),                                                               \
	BODY_TEXT(struct hosted_input, call_id, "call_id", NULLABLE, 1, 200),                        \
	BODY_TEXT(struct hosted_input, job_id, "job_id", NULLABLE, 1, 200),                          \
	BODY_ENUM(struct hosted_input, state, "state", REQUIRED, STATE_NAMES),                       \
	{IN_BODY, FIELD_OBJECT, "output", FIELD_NOWHERE, NULLABLE, .bytes_max = OUTPUT_MAX_BYTES}
/* clang-format on */

/* A traceback may be long: the result is taken, and as much of the text as is kept of one. */
static const struct field TEXT_ERROR[] = {
	MEMBERS,
	JSON_TEXT("error", NULLABLE, 0, 0),
	FIELD_END,
};

static const struct field LONG_ERROR_MEMBERS[] = {
	JSON_ENUM("kind", REQUIRED, FAULT_KINDS),
	JSON_TEXT("message", REQUIRED, 0, 0),
	FIELD_END,
};

static const struct field OBJECT_ERROR[] = {
	MEMBERS,
	{IN_BODY, FIELD_OBJECT, "error", FIELD_NOWHERE, NULLABLE | OTHERS_IGNORED,
         .bytes_max = OUTPUT_MAX_BYTES, .members = LONG_ERROR_MEMBERS},
	FIELD_END,
};

static const char *status_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(STATES); i++)
		if (strcmp(STATES[i].name, name) == 0)
			return STATES[i].status;
	return NULL;
}

/* A text is the evaluation's own error. */
static void add_error(struct request *rq, yyjson_mut_doc *doc, yyjson_mut_val *result)
{
	yyjson_val *error = json_get(rq->http->json, "error");
	if (!error || yyjson_is_null(error)) {
		json_add_text(doc, result, "error", NULL);
		return;
	}
	const char *kind = yyjson_is_str(error) ? "task" : json_get_text(error, "kind");
	yyjson_val *message = yyjson_is_str(error) ? error : json_get(error, "message");
	const char *text = yyjson_get_str(message);
	yyjson_mut_val *object = yyjson_mut_obj_add_obj(doc, result, "error");
	json_add_text(doc, object, "kind", kind);
	yyjson_mut_obj_add_strn(doc, object, "message", text,
	                        utf8_cut_points(text, yyjson_get_len(message), MESSAGE_MAX));
}

/* The metrics are the output's member of that name, or its members that are numbers. */
static void add_metrics(yyjson_mut_doc *doc, yyjson_mut_val *result, yyjson_val *output)
{
	size_t index, count;
	yyjson_val *name, *value, *metrics = yyjson_obj_get(output, "metrics");
	if (yyjson_is_obj(metrics)) {
		json_add_member(doc, result, "metrics", output, "metrics");
		return;
	}
	yyjson_mut_val *found = yyjson_mut_obj_add_obj(doc, result, "metrics");
	json_obj_foreach (output, index, count, name, value)
		if (yyjson_is_num(value))
			yyjson_mut_obj_add_val(doc, found, yyjson_get_str(name),
			                       yyjson_val_mut_copy(doc, value));
}

/* The delivery in the form of webhooks/results. */
static const char *result_of(struct request *rq, const char *status, const char *call_id)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *result = yyjson_mut_obj(doc);
	yyjson_val *output = json_get(rq->http->json, "output");
	json_add_text(doc, result, "status", status);
	json_add_text(doc, result, "call_id", call_id);
	add_metrics(doc, result, output);
	json_add_member(doc, result, "results", rq->http->json, "output");
	add_error(rq, doc, result);
	return json_write_mut(rq->arena, result, NULL);
}

/* One of them says which call it was, also where the run is named. */
static void check_call(struct request *rq)
{
	if (request_has_member(rq, "call_id") || request_has_member(rq, "job_id"))
		return;
	problem_add_field(rq->arena, &rq->problem, "call_id",
	                  "is required where there is no job_id");
	problem_add_field(rq->arena, &rq->problem, "job_id",
	                  "is required where there is no call_id");
}

void hosted_result_deliver(struct request *rq)
{
	yyjson_val *body = request_body(rq);
	const char *call_id = json_get_text(body, "call_id");
	const char *run = delivery_run(rq, call_id ? call_id : json_get_text(body, "job_id"));
	delivery_id_check(rq);
	check_call(rq);
	metrics_check(rq, "output.metrics", json_get(json_get(body, "output"), "metrics"));
	struct hosted_input *in =
		request_input(rq, struct hosted_input,
	                      yyjson_is_obj(json_get(body, "error")) ? OBJECT_ERROR : TEXT_ERROR);
	call_id = in->call_id ? in->call_id : in->job_id;
	delivery_take(rq, &(struct delivery){
				  .run = run,
				  .result = result_of(rq, status_of(in->state), call_id),
			  });
}
