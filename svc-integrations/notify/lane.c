#include "notify/lane.h"

#include "base/timefmt.h"
#include "crypto/crypto.h"
#include "json/json.h"
#include "lane.sql.h"
#include "notify/attempt.h"
#include "notify/endpoint/endpoint_kind.h"
#include "observe/log.h"
#include "observe/metrics.h"
#include "pg/pg.h"

#include <stdio.h>
#include <string.h>

#define TURN_MS  10000 /* after which a lane is given back */
#define QUICK_MS 3000  /* an attempt that takes longer makes its endpoint a slow one */

METRIC_COUNTER(attempts_total, "expops_notify_attempts_total",
               "Attempts to deliver messages by how they ended: delivered, failed (to be tried "
               "again), given_up.",
               "kind", "outcome");
METRIC_COUNTER(disabled_total, "expops_notify_endpoints_disabled_total",
               "Endpoints that were disabled because they are gone.", "kind");
METRIC_HISTOGRAM(attempt_seconds, "expops_notify_attempt_seconds",
                 "How long attempts to deliver messages took.", "kind");

/* The last attempt; what was read of its delivery has been freed with its page. */
struct last_attempt {
	char delivery[UUID_TEXT_LEN + 1], day[DATE_TEXT_LEN + 1];
	char target[SHA256_HEX_LEN + 1];
	int tries;              /* before it */
	struct outcome outcome; /* `disable` is in `reason` */
	char reason[ATTEMPT_ERROR_MAX];
};

/* The parameter of lane_step() for how an attempt ended. */
static const char *ended_json(struct request *rq, const struct last_attempt *last)
{
	const struct outcome *outcome = &last->outcome;
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *ended = yyjson_mut_obj(doc);
	char *at = arena_alloc(rq->arena, TIME_TEXT_LEN + 1);
	time_format(outcome->at_ms, at);
	yyjson_mut_obj_add_str(doc, ended, "day", last->day);
	yyjson_mut_obj_add_str(doc, ended, "delivery_id", last->delivery);
	yyjson_mut_obj_add_int(doc, ended, "tries", last->tries);
	yyjson_mut_obj_add_str(doc, ended, "target", last->target);
	yyjson_mut_obj_add_str(doc, ended, "at", at);
	if (outcome->status)
		yyjson_mut_obj_add_int(doc, ended, "status", outcome->status);
	yyjson_mut_obj_add_uint(doc, ended, "duration_ms", outcome->duration_ms);
	json_add_text(doc, ended, "error", outcome->error[0] ? outcome->error : NULL);
	json_add_text(doc, ended, "response", outcome->status ? outcome->response : NULL);
	yyjson_mut_obj_add_bool(doc, ended, "is_delivered", outcome->is_delivered);
	yyjson_mut_obj_add_bool(doc, ended, "is_quick", outcome->duration_ms <= QUICK_MS);
	json_add_text(doc, ended, "disable", outcome->disable);
	yyjson_mut_obj_add_uint(doc, ended, "pause_ms", outcome->pause_ms);
	yyjson_mut_obj_add_bool(doc, ended, "is_refused", outcome->is_refused);
	if (!outcome->is_delivered && !outcome->is_final)
		yyjson_mut_obj_add_uint(doc, ended, "retry_ms", outcome->retry_ms);
	return json_write_mut(rq->arena, ended, NULL);
}

static struct pg_rows *step(struct request *rq, const struct lane *lane,
                            const struct last_attempt *last, bool is_over)
{
	return pg_query(rq, LANE_STEP_SQL, pg_text(lane->endpoint), pg_bool(lane->is_retry),
	                pg_int(lane->claim), pg_text(last->day[0] ? ended_json(rq, last) : NULL),
	                pg_int(LANE_CLAIM_S), pg_bool(is_over));
}

static struct sending sending_of(struct request *rq, const struct lane *lane,
                                 const struct pg_rows *next)
{
	struct sending sending = {
		.endpoint = lane->endpoint,
		.account = pg_get(next, 0, "account_id"),
		.kind = pg_get(next, 0, "kind"),
		.name = pg_get(next, 0, "name"),
		.url = pg_get(next, 0, "url"),
		.delivery = pg_get(next, 0, "delivery_id"),
		.message = pg_get(next, 0, "message_id"),
		.body = pg_get(next, 0, "body"),
		.tries = (int)pg_get_int(next, 0, "tries"),
		.target = pg_get(next, 0, "target"),
	};
	sending.secret = pg_get_bytes(rq->arena, next, 0, "secret", &sending.secret_length);
	sending.old_secret =
		pg_get_bytes(rq->arena, next, 0, "old_secret", &sending.old_secret_length);
	return sending;
}

static void report(const struct sending *sending, const struct last_attempt *last)
{
	const struct outcome *outcome = &last->outcome;
	const char *kind = ENDPOINT_KINDS[endpoint_kind_of(sending->kind)];
	const char *how = outcome->is_delivered ? "delivered"
	                  : outcome->is_final   ? "given_up"
	                                        : "failed";
	metric_add(&attempts_total, kind, how, 1);
	metric_observe_seconds(&attempt_seconds, kind, NULL, (double)outcome->duration_ms / 1000);
	if (outcome->disable)
		metric_add(&disabled_total, kind, NULL, 1);
	if (!outcome->is_delivered)
		log_info("a message was not delivered", f_text("endpoint", sending->endpoint),
		         f_text("delivery", last->delivery), f_int("status", outcome->status),
		         f_text("why", outcome->error), f_text("outcome", how));
}

static void make(struct request *rq, const struct lane *lane, const struct pg_rows *next,
                 struct last_attempt *last)
{
	struct sending sending = sending_of(rq, lane, next);
	memcpy(last->delivery, pg_get(next, 0, "delivery_id"), sizeof(last->delivery));
	memcpy(last->day, pg_get(next, 0, "day"), sizeof(last->day));
	snprintf(last->target, sizeof(last->target), "%s", sending.target);
	last->tries = sending.tries;
	attempt_make(rq, &sending, &last->outcome);
	report(&sending, last);
	if (last->outcome.disable) {
		snprintf(last->reason, sizeof(last->reason), "%s", last->outcome.disable);
		last->outcome.disable = last->reason;
	}
}

void lane_run(struct request *rq)
{
	const struct lane *lane = rq->user;
	struct last_attempt *last = arena_new_of(rq->arena, struct last_attempt);
	uint64_t until_ms = time_monotonic_ms() + TURN_MS;
	for (bool has_next = true; has_next;) {
		bool is_over = *lane->is_stopping || time_monotonic_ms() >= until_ms;
		request_page_begin(rq);
		struct pg_rows *next = step(rq, lane, last, is_over);
		has_next = !pg_empty(next);
		if (has_next)
			make(rq, lane, next, last);
		request_page_end(rq);
	}
}
