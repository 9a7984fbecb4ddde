/** For handlers that read and write one database row: the row or 404, violated constraints as
 * problems, and the key that made a change.
 *
 *     static const struct constraint CONSTRAINTS[] = {
 *             {"project_name", ERR_CONFLICT, NULL, "a project of this name exists"},
 *             {"project_owner", ERR_INVALID, "owner_id", "does not exist in this account"},
 *             {0},
 *     };
 *     struct pg_rows *rows = pg_write(rq, CONSTRAINTS, PROJECT_UPDATE_SQL, pg_text(in->id),
 *                                     pg_uuid(rq->caller.account), pg_text(request_body_json(rq)));
 *     reply_one(rq, 200, rows, "no such project");
 */
#pragma once

#include "crypto/scope.h"
#include "pg/batch.h"
#include "reply/reply.h"

/** Reply with the JSON in the first column of the first row. Raises ERR_NOT_FOUND with the detail
 * `missing` ("no such project") when there is no row. */
void reply_one(struct request *rq, int status, const struct pg_rows *rows, const char *missing);

/** Raise ERR_NOT_FOUND with the detail `missing` when there is no row. */
void require_row(struct request *rq, const struct pg_rows *rows, const char *missing);

/** The problem that a client gets when a constraint of the database is violated. */
struct constraint {
	const char *name;    /* of the constraint or unique index; NULL ends a table */
	enum err_code code;  /* ERR_CONFLICT; ERR_INVALID */
	const char *field;   /* the field that the problem names; NULL: none, `code` alone */
	const char *message; /* with `field`: its message; otherwise the problem's detail */
};

/** The row for statements that call task_start(): the account has too many waiting tasks. */
#define CONSTRAINT_TASK_PENDING_MAX                                                           \
	{                                                                                     \
		"task_pending_max", ERR_CONFLICT, NULL,                                       \
			"too many tasks of this account are waiting; try again when some of " \
			"them have ended"                                                     \
	}

/** Run a statement as pg_query() does; raise the violation of a constraint that the table
 * `constraints` lists as its row says. Other failures are raised as by pg_query(). */
#define pg_write(rq, constraints, sql, ...) \
	pg_write_call((rq), (constraints), &PG_CALL((sql), ##__VA_ARGS__))
struct pg_rows *pg_write_call(struct request *rq, const struct constraint *constraints,
                              const struct pg_call *call);

/** As pg_write(), for a statement that requests share (pg/batch.h). */
#define pg_write_shared(rq, constraints, sql, ...) \
	pg_write_shared_call((rq), (constraints), &PG_CALL((sql), ##__VA_ARGS__))
struct pg_rows *pg_write_shared_call(struct request *rq, const struct constraint *constraints,
                                     const struct pg_call *item);

/** The id of the API key that makes the request, for columns such as `changed_by`; SQL NULL when a
 * service makes it. */
struct pg_param caller_key(struct request *rq);

/** The id of the person behind it; SQL NULL: it is not known, or an agent's or a service's. */
struct pg_param caller_person(struct request *rq);

/** Whether the caller has a scope beyond that of the operation; and to raise ERR_SCOPE when it has
 * not. */
bool caller_has_scope(const struct request *rq, enum scope_bit scope);
void require_scope(struct request *rq, enum scope_bit scope);
