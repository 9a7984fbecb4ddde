#include "retention/retention.h"

#include "observe/log.h"
#include "pg/pg.h"
#include "retention.sql.h"

#define BATCH 1000

static int64_t key_days;

const int64_t KEY_RETENTION_EVERY_MS = (int64_t)3600 * 1000;

const struct setting KEY_RETENTION_SETTINGS[] = {
	SETTING_INT(&key_days, "KEY_DAYS", "800", 91, 36500,
                    "Days for which keys and invitations are kept after their end."),
	SETTING_END,
};

const struct retained_table ACCOUNT_TABLES[] = {
	TABLE_AGES("api_key", "created_at", "KEY_DAYS",
                   "after it was revoked or has expired; others as their account wants"),
	TABLE_AGES("invitation", "created_at", "KEY_DAYS", "after it has expired"),
	TABLE_AGES("key_usage", "day", NULL, "90 days"),
	TABLE_AGES("login", "created_at", NULL, "after it has expired; by the next log-ins"),
	TABLE_BOUND("session", "20 a person; with the key"),
	TABLE_BOUND("account", "one row an account"),
	TABLE_BOUND("api_key_person", "with the key"),
	TABLE_BOUND("former_member", "one row a person and account that they left"),
	TABLE_BOUND("identity", "one row a person and issuer"),
	TABLE_BOUND("login_key", "with the key: one of a member"),
	TABLE_BOUND("mcp_confirm_key", "one row"),
	TABLE_BOUND("member", "one row a person and account"),
	TABLE_BOUND("person", "with the last account, as persons of no account are deleted"),
	TABLES_END,
};

void key_retention_keep(struct request *rq)
{
	int64_t deleted = 0, batch;
	do {
		batch = pg_value_int(pg_query(rq, RETENTION_DELETE_SQL, pg_int(key_days),
		                              pg_int(BATCH)),
		                     0);
		deleted += batch;
	} while (batch >= BATCH);
	if (deleted > 0)
		log_info(LOG_GROUP_APP, "ended keys and invitations deleted",
		         f_int("count", deleted));
}
