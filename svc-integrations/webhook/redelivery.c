#include "webhook/redelivery.h"

#include "app/app_jwt.h"
#include "app/code_host.h"
#include "base/timefmt.h"
#include "http/query.h"
#include "json/json.h"
#include "observe/log.h"
#include "pg/pg.h"
#include "redelivery.sql.h"
#include "webhook/code_host_event.h"
#include "webhook/webhook.h"

#include <string.h>

#define PAGES_MAX  50     /* of the list, in a pass; the next one goes on */
#define ASKED_MAX  200    /* deliveries, in a pass */
#define OVERLAP_MS 300000 /* a delivery is listed when its attempt has ended */

/* Where reading stands. */
struct reading {
	const char *cursor; /* of the next page; NULL: the newest */
	int64_t until_ms;   /* older deliveries were read before */
};

/* --- The list of the code host ---------------------------------------------------------------- */

struct page {
	yyjson_mut_val *attempts; /* [{"id", "attempt", "at"}] */
	int64_t newest_ms, oldest_ms;
};

static void read_item(yyjson_mut_doc *doc, struct page *page, yyjson_val *item)
{
	const char *id = json_get_text(item, "guid");
	const char *at = json_get_text(item, "delivered_at");
	int64_t attempt = json_get_int(item, "id", 0);
	int64_t at_ms;
	if (!id || !delivery_id_is_valid(id) || attempt <= 0 || !at ||
	    !time_parse(at, strlen(at), &at_ms))
		return;
	page->newest_ms = MAX_OF(page->newest_ms, at_ms);
	page->oldest_ms = MIN_OF(page->oldest_ms, at_ms);
	yyjson_mut_val *row = yyjson_mut_arr_add_obj(doc, page->attempts);
	yyjson_mut_obj_add_str(doc, row, "id", id);
	yyjson_mut_obj_add_int(doc, row, "attempt", attempt);
	yyjson_mut_obj_add_str(doc, row, "at", at);
}

static struct page read_items(yyjson_mut_doc *doc, yyjson_val *items)
{
	struct page page = {.attempts = yyjson_mut_arr(doc), .oldest_ms = INT64_MAX};
	yyjson_val *item;
	size_t i, max;
	yyjson_arr_foreach (items, i, max, item)
		read_item(doc, &page, item);
	return page;
}

/* The cursor of the next page, from the field Link; NULL: this is the last. */
static const char *next_cursor(struct arena *arena, const char *link)
{
	const char *next = link ? strstr(link, "rel=\"next\"") : NULL;
	const char *open = next ? memrchr(link, '<', (size_t)(next - link)) : NULL;
	const char *query = open ? memchr(open, '?', (size_t)(next - open)) : NULL;
	return query ? query_get(arena, query + 1, strcspn(query + 1, ">"), "cursor", NULL) : NULL;
}

/* Read the next page and note what the ledger does not have. False: the list has been read. */
static bool read_page(struct request *rq, struct reading *reading)
{
	struct code_host_auth auth = app_auth(rq);
	const char *path =
		arena_printf(rq->arena, "/app/hook/deliveries?per_page=100%s%s",
	                     reading->cursor ? "&cursor=" : "",
	                     reading->cursor ? query_encode(rq->arena, reading->cursor) : "");
	struct code_host_answer answer = code_host_call(rq, &auth, "GET", path, NULL);
	if (answer.status != 200) {
		pg_query(rq, REDELIVERY_RESTART_SQL);
		raise_error(rq, ERR_UPSTREAM, "the code host does not list its deliveries: %s",
		            code_host_reason(rq, &answer));
	}
	struct page page = read_items(json_doc_new(rq->arena), answer.json);
	reading->cursor = page.oldest_ms < reading->until_ms - OVERLAP_MS
	                          ? NULL
	                          : next_cursor(rq->arena, answer.link);
	pg_query(rq, REDELIVERY_NOTE_SQL, pg_text(json_write_mut(rq->arena, page.attempts, NULL)),
	         pg_int(page.newest_ms), pg_text(reading->cursor));
	return reading->cursor != NULL;
}

/* --- Asking ----------------------------------------------------------------------------------- */

/* False: the code host refuses the app, and would refuse what follows. A delivery that it does not
 * know, or does not keep any more, is forgotten; of any other it is asked again later. */
static bool ask(struct request *rq, const char *delivery, const char *attempt)
{
	struct code_host_auth auth = app_auth(rq);
	const char *path = arena_printf(rq->arena, "/app/hook/deliveries/%s/attempts", attempt);
	struct code_host_answer answer = code_host_call(rq, &auth, "POST", path, NULL);
	if (answer.status == 202) {
		log_info("asked the code host to deliver again", f_text("delivery", delivery));
		return true;
	}
	if (answer.status == 404 || answer.status == 410 || answer.status == 422)
		pg_query(rq, REDELIVERY_FORGET_SQL, pg_text(delivery));
	log_warn("the code host does not deliver again", f_text("delivery", delivery),
	         f_text("reason", code_host_reason(rq, &answer)));
	return answer.status != 401 && answer.status != 403;
}

static void ask_due(struct request *rq)
{
	struct pg_rows *lost = pg_query(rq, REDELIVERY_SETTLE_SQL);
	if (pg_value_int(lost, 0) > 0)
		log_warn("deliveries of the code host never arrived",
		         f_int("deliveries", pg_value_int(lost, 0)));
	for (int i = 0; i < ASKED_MAX; i++) {
		struct pg_rows *rows =
			pg_query(rq, REDELIVERY_CLAIM_SQL, pg_int(redelivery_interval_ms));
		if (pg_empty(rows) ||
		    !ask(rq, pg_get(rows, 0, "delivery_id"), pg_get(rows, 0, "attempt_id")))
			return;
	}
}

void redelivery_pass(struct request *rq)
{
	if (!webhook_is_active(rq) || !app_is_configured(rq))
		return;
	struct pg_rows *rows = pg_query(rq, REDELIVERY_BEGIN_SQL, pg_int(redelivery_interval_ms));
	if (pg_empty(rows))
		return;
	struct reading reading = {.cursor = pg_get(rows, 0, "cursor"),
	                          .until_ms = pg_get_int(rows, 0, "until_ms")};
	for (int i = 0; i < PAGES_MAX && read_page(rq, &reading); i++)
		;
	ask_due(rq);
}
