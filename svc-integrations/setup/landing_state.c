#include "setup/landing_state.h"

#include "base/base.h"
#include "crypto/crypto.h"
#include "landing_state.sql.h"
#include "pg/pg.h"

#include <string.h>

#define LIFETIME_S   3600
#define STATE_LENGTH 43 /* 256 bits in base62 */

static const char *const KINDS[] = {
	[LANDING_CREATE] = "create",
	[LANDING_REPLACE] = "replace",
	[LANDING_INSTALL] = "install",
};

const char *landing_state_new(struct request *rq, enum landing landing, const char **ret_expires_at)
{
	char *state = arena_alloc(rq->arena, STATE_LENGTH + 1);
	random_base62(state, STATE_LENGTH);
	struct pg_rows *rows =
		pg_query(rq, LANDING_STATE_CREATE_SQL, pg_sha256(state),
	                 pg_uuid(rq->caller.account), pg_text(KINDS[landing]), pg_int(LIFETIME_S));
	if (ret_expires_at)
		*ret_expires_at = pg_value(rows, 0);
	return state;
}

static enum landing find(struct request *rq, const char *sql, const char *state, enum landing one,
                         enum landing other)
{
	struct pg_rows *rows = pg_query(rq, sql, pg_sha256(state), pg_uuid(rq->caller.account),
	                                pg_text(KINDS[one]), pg_text(KINDS[other]));
	if (pg_empty(rows))
		raise_field(rq, "state",
		            "is none that this account got within the last hour, or was used; "
		            "begin again");
	return strcmp(pg_value(rows, 0), KINDS[one]) == 0 ? one : other;
}

enum landing landing_state_check(struct request *rq, const char *state, enum landing one,
                                 enum landing other)
{
	return find(rq, LANDING_STATE_CHECK_SQL, state, one, other);
}

enum landing landing_state_take(struct request *rq, const char *state, enum landing one,
                                enum landing other)
{
	return find(rq, LANDING_STATE_TAKE_SQL, state, one, other);
}
