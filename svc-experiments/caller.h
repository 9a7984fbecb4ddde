/** Whom a change is put down to. */
#pragma once

#include "loop/request.h"
#include "pg/pg.h"

/** The key that makes a request, for `by` of a history; NULL where the service itself does. */
static inline struct pg_param caller_key(struct request *rq)
{
	return uuid_is_nil(&rq->caller.key_id) ? pg_null() : pg_uuid(rq->caller.key_id);
}
