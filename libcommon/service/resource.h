/** What the handlers of a resource have in common: one row or 404, violated constraints as answers of
 * the API, and the key that makes a change. */
#pragma once

#include "pg/pg.h"
#include "service/reply.h"

/** Reply the JSON in the first column of the one row. Raises ERR_NOT_FOUND with the sentence
 * `missing` ("no such interest") where there is no row. */
void reply_one(struct request *rq, int status, const struct pg_rows *rows, const char *missing);

/** Raise ERR_NOT_FOUND with the sentence `missing` where there is no row. */
void require_row(struct request *rq, const struct pg_rows *rows, const char *missing);

/** What the violation of a constraint means to a client. */
struct constraint {
	const char *name;    /* of the constraint or unique index; NULL ends a table */
	enum err_code code;  /* ERR_CONFLICT; ERR_INVALID */
	const char *field;   /* that ERR_INVALID names */
	const char *message; /* a sentence, or what is said of the field */
};

/** As pg_query(), and the violation of a constraint in the table is raised as its row says. */
#define pg_write(rq, constraints, sql, ...)                             \
	pg_write_with((rq), (constraints), (sql),                       \
	              (const struct pg_param[]){{NULL}, ##__VA_ARGS__}, \
	              ARRAY_LEN(((const struct pg_param[]){{NULL}, ##__VA_ARGS__})) - 1)
struct pg_rows *pg_write_with(struct request *rq, const struct constraint *constraints,
                              const char *sql, const struct pg_param *params, size_t count);

/** The key that makes the request, for the column that tells who changed something; NULL where a
 * service itself does. */
struct pg_param caller_key(struct request *rq);
