#include "digest/digest_message.h"

#include "digest_message.sql.h"
#include "json/json.h"
#include "pg/pg.h"

/* Digests that one statement starts. */
#define BATCH 100

int64_t digest_check_ms;

const struct setting DIGEST_SETTINGS[] = {
	SETTING_MS(&digest_check_ms, "DIGEST_CHECK", "20s", 50, 3600000,
                   "Interval of looking for digests of messages that are due."),
	SETTING_END,
};

void digest_message_due(struct request *rq, const struct event *event)
{
	pg_query(rq, DIGEST_MESSAGE_STORE_SQL, pg_text(event->account),
	         pg_text(json_write(rq->arena, event->data, NULL)));
}

void digest_message_pass(struct request *rq)
{
	while (pg_value_int(pg_query(rq, DIGEST_MESSAGE_START_SQL, pg_int(BATCH)), 0) == BATCH)
		;
}

void digest_message_run(struct request *rq, struct task *task)
{
	pg_begin(rq);
	pg_query(rq, DIGEST_MESSAGE_MAKE_SQL, pg_text(task->account),
	         pg_text(json_write(rq->arena, task->input, NULL)));
	task_complete(rq, task, "{}", NULL);
	pg_commit(rq);
}
