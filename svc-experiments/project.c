#include "project.h"

#include "caller.h"
#include "input.h"
#include "pg/pg.h"
#include "project.sql.h"

struct project_input {
	const char *id;
	int64_t limit, offset;
};

static const struct field LIST_FIELDS[] = {
	QUERY_LIMIT(struct project_input, limit, 20, 100),
	QUERY_OFFSET(struct project_input, offset),
	FIELD_END,
};

static const struct field ID_FIELDS[] = {
	PATH_UUID(struct project_input, id, "project_id"),
	FIELD_END,
};

static const struct field UPDATE_FIELDS[] = {
	PATH_UUID(struct project_input, id, "project_id"),
	JSON_TEXT("name", TRIMMED, 1, 200),
	JSON_TEXT("description", NULLABLE, 0, 10000),
	FIELD_END,
};

static void require_found(struct request *rq, const struct pg_rows *rows)
{
	if (pg_empty(rows))
		raise_error(rq, ERR_NOT_FOUND, "no such project");
}

static attr_noreturn void raise_write(struct request *rq, enum err_code code)
{
	if (code == ERR_CONFLICT)
		raise_error(rq, code, "a project of this name exists");
	pg_raise(rq, code);
}

void project_list(struct request *rq)
{
	struct project_input *in = request_input(rq, struct project_input, LIST_FIELDS);
	struct pg_rows *rows = pg_query(rq, PROJECT_LIST_SQL, pg_uuid(rq->caller.account),
	                                pg_int(in->limit), pg_int(in->offset));
	reply_page(rq, pg_json(rows), pg_value_int(rows, 0, 1), in->limit, in->offset);
}

void project_create(struct request *rq)
{
	request_input(rq, struct project_input, PROJECT_CREATE_FIELDS);
	struct pg_rows *rows;
	enum err_code code = pg_try(rq, &rows, NULL, PROJECT_CREATE_SQL,
	                            pg_uuid(rq->caller.account), pg_text(request_body_json(rq)));
	if (code)
		raise_write(rq, code);
	reply_json(rq, 201, pg_json(rows));
}

void project_get(struct request *rq)
{
	struct project_input *in = request_input(rq, struct project_input, ID_FIELDS);
	struct pg_rows *rows =
		pg_query(rq, PROJECT_GET_SQL, pg_text(in->id), pg_uuid(rq->caller.account));
	require_found(rq, rows);
	reply_json(rq, 200, pg_json(rows));
}

void project_update(struct request *rq)
{
	struct project_input *in = request_input(rq, struct project_input, UPDATE_FIELDS);
	request_require_some(rq);
	struct pg_rows *rows;
	enum err_code code = pg_try(rq, &rows, NULL, PROJECT_UPDATE_SQL, pg_text(in->id),
	                            pg_uuid(rq->caller.account), pg_text(request_body_json(rq)));
	if (code)
		raise_write(rq, code);
	require_found(rq, rows);
	reply_json(rq, 200, pg_json(rows));
}

void project_delete(struct request *rq)
{
	struct project_input *in = request_input(rq, struct project_input, ID_FIELDS);
	struct pg_rows *rows =
		pg_query(rq, PROJECT_DELETE_SQL, pg_text(in->id), pg_uuid(rq->caller.account),
	                 caller_key(rq), pg_text(rq->id));
	require_found(rq, rows);
	reply_json(rq, 200, pg_json(rows));
}
