#include "result/delivery.h"

#include "base/timefmt.h"
#include "crypto/uuid.h"
#include "delivery.sql.h"
#include "json/json.h"
#include "loop/wait.h"
#include "result/result.h"
#include "run/run.h"
#include "template/webhook_secret.h"

#include <math.h>
#include <string.h>

#define DELIVERY_ID_MAX 200
#define FORGET_BATCH    1000 /* delivery_forget in delivery.sql */

static int64_t retention_days;

const struct setting DELIVERY_SETTINGS[] = {
	SETTING_INT(&retention_days, "DELIVERY_RETENTION", "30", 1, 36500,
                    "Days for which the id of a delivered result is remembered, so that it counts "
                    "once."),
	SETTING_END,
};

const int64_t DELIVERY_FORGET_EVERY_MS = 3600000;

void metrics_check(struct request *rq, const char *field, yyjson_val *metrics)
{
	size_t index, count;
	yyjson_val *name, *value;
	json_obj_foreach (metrics, index, count, name, value)
		if (!yyjson_is_num(value) || !isfinite(yyjson_get_num(value)))
			problem_add_field(rq->arena, &rq->problem, field, "%s must be a number",
			                  yyjson_get_str(name));
}

/* --- The signature ---------------------------------------------------------------------------- */

struct check {
	struct webhook_key key;
	struct signed_fields fields;
	const char *content;
	size_t length;
	int64_t now_s;
	bool is_valid;
};

static void check_run(void *arg)
{
	struct check *check = arg;
	check->is_valid = webhook_signature_is_valid(&check->key, &check->fields, check->content,
	                                             check->length, check->now_s);
}

static void require_signature(struct request *rq, const struct webhook_key *key)
{
	struct check check = {
		.key = *key,
		.fields = {request_header(rq, "webhook-id"),
	                   request_header(rq, "webhook-timestamp"),
	                   request_header(rq, "webhook-signature")},
		.content = rq->http->body,
		.length = rq->http->body_length,
		.now_s = time_now_ms() / 1000,
	};
	fiber_offload_text(rq, check.length, check_run, &check);
	if (!check.is_valid)
		raise_error(rq, ERR_UNAUTHENTICATED,
		            "the run's template has a secret: the delivery needs a signature by "
		            "it (Standard Webhooks), at most five minutes old");
}

/* --- Storing it ------------------------------------------------------------------------------- */

void delivery_id_check(struct request *rq)
{
	const char *id = request_header(rq, "webhook-id");
	if (id && (!*id || strlen(id) > DELIVERY_ID_MAX))
		problem_add_field(rq->arena, &rq->problem, "webhook-id",
		                  "must have 1 to %d characters", DELIVERY_ID_MAX);
}

/* Whether the body names a run at all, in a form that a statement takes. */
static bool names_run(const char *run_id, const char *call_id)
{
	struct uuid uuid;
	return run_id ? uuid_parse(run_id, strlen(run_id), &uuid) : call_id != NULL;
}

const char *delivery_run(struct request *rq, const char *call_id)
{
	const char *run_id = json_get_text(request_body(rq), "run_id");
	if (!names_run(run_id, call_id))
		return NULL;
	struct pg_rows *rows = pg_query(rq, DELIVERY_RUN_SQL, pg_text(run_id), pg_text(call_id),
	                                queue_account(rq));
	if (pg_empty(rows))
		return NULL;
	if (rows->count > 1)
		raise_error(rq, ERR_CONFLICT,
		            "runs of several accounts have this call: name the run by run_id");
	const char *id = pg_get(rows, 0, "id");
	queue_require_repo(rq, &RUNS, id);
	size_t length;
	const void *sealed = pg_get_bytes(rq->arena, rows, 0, "secret", &length);
	if (sealed) {
		struct webhook_key key =
			webhook_secret_open(rq, pg_get(rows, 0, "template_id"), sealed, length);
		require_signature(rq, &key);
	}
	return id;
}

void delivery_take(struct request *rq, const struct delivery *delivery)
{
	const char *message = request_header(rq, "webhook-id");
	if (!delivery->run)
		raise_error(rq, ERR_NOT_FOUND, "%s", RUNS.missing);
	struct pg_rows *rows =
		pg_query(rq, DELIVERY_STORE_SQL, pg_text(delivery->run), queue_account(rq),
	                 delivery->attempt ? pg_int(delivery->attempt) : pg_null(),
	                 pg_text(delivery->result), pg_text(message), queue_lease(rq));
	const char *outcome = pg_json(rows);
	queue_require_ok(rq, &RUNS, outcome);
	rows = pg_query(rq, DELIVERY_ANSWER_SQL, pg_text(delivery->run),
	                pg_bool(strcmp(outcome, "known") == 0));
	reply_one(rq, 200, rows, RUNS.missing);
}

void delivery_forget(struct request *rq)
{
	while (pg_value_int(pg_query(rq, DELIVERY_FORGET_SQL, pg_int(retention_days)), 0) ==
	       FORGET_BATCH)
		;
}
