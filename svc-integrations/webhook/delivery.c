#include "webhook/delivery.h"

#include "delivery.sql.h"
#include "http/query.h"
#include "input/input.h"
#include "json/json.h"
#include "loop/wait.h"
#include "observe/log.h"
#include "observe/metrics.h"
#include "pg/pg.h"
#include "provider/provider.h"
#include "reply/reply.h"
#include "webhook/webhook.h"
#include "webhook/webhook_signature.h"

#include <string.h>
#include <strings.h>

/* Of a longer delivery the ledger has what is read. */
#define WHOLE_MAX_BYTES ((size_t)1 << 20)

const int64_t delivery_days_keep_ms = 3600000;

METRIC_COUNTER(deliveries_total, "expops_webhook_deliveries_total",
               "Deliveries of webhooks: applied, ignored, known (received before) or "
               "refused (not signed).",
               "outcome");

void delivery_metrics_start(void)
{
	metric_add(&deliveries_total, "refused", NULL, 0);
}

/* A delivery that is being taken in. */
struct intake {
	struct arena *arena; /* of what is read */
	const struct webhook_secrets *secrets;
	const char *signature, *event, *id;
	const char *content; /* as it was sent */
	size_t length;
	int secret;       /* that signed it; 0: none did */
	const char *json; /* the content, or the form's member that has it */
	size_t json_length;
	struct json_repaired kept; /* what is read of it */
	struct code_host_events events;
};

static void check_signature(void *arg)
{
	struct intake *intake = arg;
	intake->secret = webhook_signature_check(intake->secrets, intake->signature,
	                                         intake->content, intake->length);
}

static void measure(void *arg)
{
	struct intake *intake = arg;
	intake->kept = json_repair_measure(intake->json, intake->json_length, &DELIVERY_FILTER);
}

static void read_events(void *arg)
{
	struct intake *intake = arg;
	intake->kept =
		json_repair(intake->arena, intake->json, intake->json_length, &DELIVERY_FILTER, 0);
	intake->events = code_host_events_read(intake->arena, intake->event, intake->id,
	                                       intake->kept.text, intake->kept.length);
}

static void require_signature(struct request *rq, struct intake *intake)
{
	intake->secrets = webhook_secrets_get(rq);
	fiber_offload_text(rq, intake->length, check_signature, intake);
	if (intake->secret)
		return;
	metric_add(&deliveries_total, "refused", NULL, 1);
	raise_error(rq, ERR_UNAUTHENTICATED,
	            intake->secrets->count > 0
	                    ? "X-Hub-Signature-256 is missing or is not of a secret of this service"
	                    : "webhooks are not configured");
}

/* The code host sends JSON as it is, or as a member of a form. */
static void find_json(struct request *rq, struct intake *intake)
{
	const char *type = request_header(rq, "Content-Type");
	if (http_type_is(type, "application/json")) {
		intake->json = intake->content;
		intake->json_length = intake->length;
		return;
	}
	if (!http_type_is(type, "application/x-www-form-urlencoded"))
		raise_error(rq, ERR_MEDIA_TYPE,
		            "the content must be application/json or "
		            "application/x-www-form-urlencoded");
	intake->json = query_get_bytes(rq->arena, intake->content, intake->length, "payload",
	                               &intake->json_length);
	if (!intake->json)
		raise_field(rq, "payload", "is missing, or its percent-encoding is invalid");
}

static const char *read_name(struct request *rq, const char *field, bool (*is_valid)(const char *))
{
	const char *value = request_header(rq, field);
	if (!value || !is_valid(value))
		raise_field(rq, field, "is missing or has another form");
	return value;
}

static struct pg_rows *store(struct request *rq, const struct intake *intake)
{
	const struct code_host_events *events = &intake->events;
	bool is_whole = intake->json_length <= WHOLE_MAX_BYTES;
	return pg_query(rq, DELIVERY_TAKE_SQL, pg_text(intake->id), pg_int(intake->secret),
	                pg_text(intake->event), pg_text(events->action), pg_text(events->repo),
	                pg_int(events->installation),
	                pg_bytes(is_whole ? intake->json : intake->kept.text,
	                         is_whole ? intake->json_length : intake->kept.length),
	                pg_text(events->ignored), pg_text(events->json),
	                pg_bool(events->is_installation_changed), pg_text(events->changed_repos),
	                pg_text(events->repositories), pg_text(code_host_web_url()));
}

static void reply_taken(struct request *rq, const char *id, const struct pg_rows *rows)
{
	const char *reason = pg_get(rows, 0, "reason");
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *answer = yyjson_mut_obj(doc);
	yyjson_mut_doc_set_root(doc, answer);
	yyjson_mut_obj_add_str(doc, answer, "delivery_id", id);
	yyjson_mut_obj_add_str(doc, answer, "status", pg_get(rows, 0, "status"));
	json_add_text(doc, answer, "reason", reason);
	reply_doc(rq, 202, doc);
}

static void count(const struct pg_rows *rows)
{
	bool is_applied = strcmp(pg_get(rows, 0, "status"), "applied") == 0;
	const char *outcome = is_applied ? "applied" : "ignored";
	metric_add(&deliveries_total, pg_get_bool(rows, 0, "is_new") ? outcome : "known", NULL, 1);
}

void delivery_receive(struct request *rq)
{
	request_input_none(rq);
	struct intake *intake = arena_new_of(rq->arena, struct intake);
	intake->signature = request_header(rq, "X-Hub-Signature-256");
	intake->content = rq->http->body;
	intake->length = rq->http->body_length;
	require_signature(rq, intake);
	intake->event = read_name(rq, "X-GitHub-Event", code_host_name_is_valid);
	intake->id = read_name(rq, "X-GitHub-Delivery", delivery_id_is_valid);
	find_json(rq, intake);
	fiber_offload_text(rq, intake->json_length, measure, intake);
	http_call_take_json(rq, intake->kept.length, intake->kept.values_max);
	intake->arena = offload_arena(rq);
	fiber_offload_text(rq, intake->length, read_events, intake);
	struct pg_rows *rows = store(rq, intake);
	count(rows);
	reply_taken(rq, intake->id, rows);
}

void delivery_days_keep(struct request *rq)
{
	struct pg_rows *rows =
		pg_query(rq, DELIVERY_DAYS_KEEP_SQL, pg_int(delivery_retention_days));
	if (pg_value_int(rows, 0) > 0)
		log_info("old deliveries of webhooks deleted",
		         f_int("days", pg_value_int(rows, 0)));
}
