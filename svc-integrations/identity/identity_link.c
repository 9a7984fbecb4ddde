#include "identity/identity_link.h"

#include "crypto/scope.h"
#include "identity_link.sql.h"
#include "input/input.h"
#include "pg/pg.h"
#include "reply/resource.h"

#include <inttypes.h>

#define ID_MAX    250
#define EMAIL_MAX 320 /* RFC 3696, erratum 1690 */
#define LOGIN_MAX 250

static const char *const SOURCES[] = {"code_host", "tracker_a", "tracker_b", NULL};

struct link_input {
	const char *id;
	const char *source, *external_id, *external_email;
	int64_t limit, offset;
};

static const struct field CREATE_FIELDS[] = {
	BODY_ENUM(struct link_input, source, "source", REQUIRED, SOURCES),
	BODY_TEXT(struct link_input, external_id, "external_id", REQUIRED | TRIMMED, 1, ID_MAX),
	JSON_TEXT("external_email", NULLABLE | TRIMMED, 3, EMAIL_MAX),
	JSON_TEXT("external_login", NULLABLE | TRIMMED, 1, LOGIN_MAX),
	READ_ONLY("id"),
	READ_ONLY("user_id"),
	READ_ONLY("person_id"),
	READ_ONLY("created_at"),
	READ_ONLY("status"),
	READ_ONLY("verified"),
	FIELD_END,
};

static const struct field ID_FIELDS[] = {
	PATH_UUID(struct link_input, id, "link_id"),
	FIELD_END,
};

static const struct field LIST_FIELDS[] = {
	QUERY_LIMIT(struct link_input, limit, 20, 100),
	QUERY_OFFSET(struct link_input, offset),
	FIELD_END,
};

static const struct field RESOLVE_FIELDS[] = {
	{IN_QUERY, FIELD_ENUM, "source", FIELD_AT(struct link_input, source, const char *),
         REQUIRED, .values = SOURCES},
	QUERY_TEXT(struct link_input, external_id, "external_id", OPTIONAL, 1, ID_MAX),
	QUERY_TEXT(struct link_input, external_email, "external_email", OPTIONAL, 1, EMAIL_MAX),
	FIELD_END,
};

static int64_t links_max;

const struct setting IDENTITY_SETTINGS[] = {
	SETTING_INT(&links_max, "IDENTITY_LINKS_MAX", "50", 1, 1000000,
                    "Identity links that an account may have."),
	SETTING_END,
};

/* The constraints that a new link can violate, with the limit in its message. */
static const struct constraint *constraints(struct request *rq)
{
	const struct constraint rows[] = {
		{"identity_link_id", ERR_CONFLICT, NULL, "the identity is that of another user"},
		{"identity_link_email", ERR_CONFLICT, NULL,
	         "external_email is that of another user"},
		{"identity_link_own_email", ERR_CONFLICT, NULL,
	         "another identity of yours has this external_email"},
		{"identity_link_max", ERR_CONFLICT, NULL,
	         arena_printf(rq->arena,
	                      "an account may have %" PRId64 " identity links; delete one first",
	                      links_max)},
		{0},
	};
	return arena_memdup(rq->arena, rows, sizeof(rows));
}

void identity_link_create(struct request *rq)
{
	request_input(rq, struct link_input, CREATE_FIELDS);
	pg_begin(rq); /* on a connection of its own, since it waits for others that verify */
	struct pg_rows *rows =
		pg_write(rq, constraints(rq), IDENTITY_LINK_CREATE_SQL, pg_uuid(rq->caller.account),
	                 pg_text(request_body_json(rq)), pg_int(links_max), caller_person(rq));
	pg_commit(rq);
	reply_json(rq, pg_get_bool(rows, 0, "is_new") ? 201 : 200, pg_json(rows));
}

void identity_link_list(struct request *rq)
{
	struct link_input *in = request_input(rq, struct link_input, LIST_FIELDS);
	struct pg_rows *rows = pg_query(rq, IDENTITY_LINK_LIST_SQL, pg_uuid(rq->caller.account),
	                                pg_int(in->limit), pg_int(in->offset));
	reply_page(rq, rows, in->limit, in->offset);
}

void identity_link_delete(struct request *rq)
{
	struct link_input *in = request_input(rq, struct link_input, ID_FIELDS);
	reply_one(rq, 200,
	          pg_query(rq, IDENTITY_LINK_DELETE_SQL, pg_uuid(rq->caller.account),
	                   pg_text(in->id)),
	          "no such identity link");
}

void identity_resolve(struct request *rq)
{
	if (!request_query(rq, "external_id") && !request_query(rq, "external_email"))
		problem_add_field(rq->arena, &rq->problem, "external_id",
		                  "or external_email is required");
	struct link_input *in = request_input(rq, struct link_input, RESOLVE_FIELDS);
	bool is_any_user = caller_has_scope(rq, SCOPE_BIT_SERVICE_ANY_USER);
	reply_one(rq, 200,
	          pg_query(rq, IDENTITY_RESOLVE_SQL, pg_uuid(rq->caller.account),
	                   pg_bool(is_any_user), pg_text(in->source), pg_text(in->external_id),
	                   pg_text(in->external_email)),
	          "no such identity");
}
