#include "announce.sql.h"
#include "inbox/inbox.h"
#include "json/json.h"
#include "pg/pg.h"

#include <string.h>

int64_t inbox_check_ms;

const struct setting INBOX_SETTINGS[] = {
	SETTING_MS(
		&inbox_check_ms, "INBOX_CHECK", "1m", 50, 3600000,
		"Interval of looking for new items of inboxes, which are announced to webhooks."),
	SETTING_END,
};

/* Each account in a transaction of its own, and once, whatever happens to it meanwhile. One whose
 * items cannot be announced stops this pass, and is left out by the next ones until its claim
 * ends. */
void inbox_announce(struct request *rq)
{
	struct pg_rows *claimed;
	const char *began = pg_get(pg_query(rq, INBOX_PASS_SQL), 0, "began");
	while (!pg_empty(claimed = pg_query(rq, INBOX_CLAIM_SQL, pg_text(began))))
		pg_query(rq, INBOX_ANNOUNCE_SQL, pg_text(pg_get(claimed, 0, "account_id")),
		         pg_text(pg_get(claimed, 0, "look_at")));
}

void inbox_key_expiring(struct request *rq, const struct event *event)
{
	pg_query(rq, KEY_EXPIRING_NOTE_SQL, pg_text(event->account),
	         pg_text(json_write(rq->arena, event->data, NULL)));
}

void inbox_key_updated(struct request *rq, const struct event *event)
{
	pg_query(rq, KEY_EXPIRING_CHANGE_SQL, pg_text(event->account),
	         pg_text(json_write(rq->arena, event->data, NULL)));
}

void inbox_experiment(struct request *rq, const struct event *event)
{
	bool is_deleted = strcmp(event->type, "experiment.deleted") == 0;
	pg_query(rq, EXPERIMENT_REMINDER_NOTE_SQL, pg_text(event->account),
	         pg_text(json_write(rq->arena, event->data, NULL)), pg_bool(is_deleted));
}

void inbox_endpoint_disabled(struct request *rq, const struct event *event)
{
	pg_query(rq, ENDPOINT_DISABLED_NOTE_SQL, pg_text(event->account),
	         pg_text(json_write(rq->arena, event->data, NULL)));
}

void inbox_connection_gone(struct request *rq, const struct event *event)
{
	pg_query(rq, CONNECTION_GONE_NOTE_SQL, pg_text(event->account),
	         pg_text(json_write(rq->arena, event->data, NULL)));
}
