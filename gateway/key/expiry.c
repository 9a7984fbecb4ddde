#include "key/expiry.h"

#include "expiry.sql.h"
#include "pg/pg.h"

#define BATCH 1000 /* api_keys_expiring_announce() */

int64_t key_expiry_check_ms;

const struct setting KEY_EXPIRY_SETTINGS[] = {
	SETTING_MS(
		&key_expiry_check_ms, "KEY_EXPIRY_CHECK", "1h", 50, 24 * 3600 * 1000,
		"Interval of looking for keys that expire in 30 or 7 days, which is announced to "
		"their accounts."),
	SETTING_END,
};

void keys_expiring_announce(struct request *rq)
{
	while (pg_value_int(pg_query(rq, EXPIRY_ANNOUNCE_SQL), 0) == BATCH)
		;
}
