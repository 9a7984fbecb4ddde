#include "reply/resource.h"

#include "input/input.h"

#include <string.h>

void require_row(struct request *rq, const struct pg_rows *rows, const char *missing)
{
	if (pg_empty(rows))
		raise_error(rq, ERR_NOT_FOUND, "%s", missing);
}

void reply_one(struct request *rq, int status, const struct pg_rows *rows, const char *missing)
{
	require_row(rq, rows, missing);
	if (!pg_json(rows)) /* a function of a row that is gone gives a row with NULL */
		raise_error(rq, ERR_NOT_FOUND, "%s", missing);
	reply_json(rq, status, pg_json(rows));
}

static attr_noreturn void raise_violation(struct request *rq, const struct constraint *constraints,
                                          const char *violated, enum err_code code)
{
	for (const struct constraint *row = constraints; violated && row->name; row++) {
		if (strcmp(row->name, violated) != 0)
			continue;
		if (row->field)
			raise_field(rq, row->field, "%s", row->message);
		raise_error(rq, row->code, "%s", row->message);
	}
	pg_raise(rq, code);
}

struct pg_rows *pg_write_call(struct request *rq, const struct constraint *constraints,
                              const struct pg_call *call)
{
	struct pg_rows *rows = NULL;
	const char *violated = NULL;
	enum err_code code = pg_try_call(rq, &rows, &violated, call);
	if (code)
		raise_violation(rq, constraints, violated, code);
	return rows;
}

struct pg_rows *pg_write_shared_call(struct request *rq, const struct constraint *constraints,
                                     const struct pg_call *item)
{
	struct pg_rows *rows = NULL;
	const char *violated = NULL;
	enum err_code code = pg_batch_try_after(rq, &rows, &violated, NULL, item);
	if (code)
		raise_violation(rq, constraints, violated, code);
	return rows;
}

struct pg_param caller_key(struct request *rq)
{
	return uuid_is_nil(&rq->caller.key_id) ? pg_null() : pg_uuid(rq->caller.key_id);
}

struct pg_param caller_person(struct request *rq)
{
	return uuid_is_nil(&rq->caller.person) ? pg_null() : pg_uuid(rq->caller.person);
}

bool caller_has_scope(const struct request *rq, enum scope_bit scope)
{
	return rq->caller.scopes & (UINT64_C(1) << scope);
}

void require_scope(struct request *rq, enum scope_bit scope)
{
	if (caller_has_scope(rq, scope))
		return;
	rq->problem.scope = scope_info(scope)->name;
	raise_error(rq, ERR_SCOPE, "the key lacks the scope %s", scope_info(scope)->name);
}
