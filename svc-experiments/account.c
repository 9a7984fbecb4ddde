#include "account.h"

#include "account.sql.h"
#include "pg/pg.h"

void account_forget(struct request *rq, const struct event *event)
{
	pg_query(rq, ACCOUNT_FORGET_SQL, pg_text(event->account));
}
