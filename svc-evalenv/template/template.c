#include "template/template.h"

#include "input/input.h"
#include "input/key_limit.h"
#include "json/json.h"
#include "pg/pg.h"
#include "reply/etag.h"
#include "reply/resource.h"
#include "request/audited.h"
#include "template.sql.h"
#include "template/spec.h"
#include "template/webhook_secret.h"

struct template_input {
	const char *id, *secret;
	int64_t limit, offset;
};

static int64_t templates_max, versions_max;

const struct setting TEMPLATE_SETTINGS[] = {
	SETTING_INT(&templates_max, "TEMPLATES_MAX", "1000", 1, 1000000,
                    "Templates that an account may have."),
	SETTING_INT(&versions_max, "TEMPLATE_VERSIONS_MAX", "100", 1, 1000000,
                    "Versions of a template that are kept besides those that runs were made with."),
	SETTING_END,
};

static const char MISSING[] = "no such template";

static const struct field LIST_FIELDS[] = {
	QUERY_LIMIT(struct template_input, limit, 20, 100),
	QUERY_OFFSET(struct template_input, offset),
	FIELD_END,
};

static const struct field ID_FIELDS[] = {
	PATH_UUID(struct template_input, id, "template_id"),
	FIELD_END,
};

/* Stored sealed: the statements take none of it from request_body_json(). */
#define SECRET_FIELD                                                                             \
	{                                                                                        \
		IN_BODY, FIELD_TEXT, "webhook_secret",                                           \
			FIELD_AT(struct template_input, secret, const char *), NULLABLE, 1, 128, \
			.check = webhook_secret_check                                            \
	}

/* Whose limited keys may use the template. */
#define REPO_FIELD                                                                 \
	{                                                                          \
		IN_BODY, FIELD_TEXT, "repo", FIELD_NOWHERE, NULLABLE, 3, REPO_MAX, \
			.check = repo_check                                        \
	}

/* What a template has besides. */
#define READ_ONLY_FIELDS                                                                       \
	READ_ONLY("template_id"), READ_ONLY("version"), READ_ONLY("digest"),                   \
		READ_ONLY("has_webhook_secret"), READ_ONLY("locked"), READ_ONLY("created_at"), \
		READ_ONLY("updated_at")

static const struct field CREATE_FIELDS[] = {
	JSON_TEXT("name", REQUIRED | TRIMMED, 1, 200),
	JSON_TEXT("description", NULLABLE, 0, 10000),
	JSON_OBJECT("spec", REQUIRED),
	REPO_FIELD,
	SECRET_FIELD,
	READ_ONLY_FIELDS,
	FIELD_END,
};

static const struct field UPDATE_FIELDS[] = {
	PATH_UUID(struct template_input, id, "template_id"),
	JSON_TEXT("name", TRIMMED, 1, 200),
	JSON_TEXT("description", NULLABLE, 0, 10000),
	JSON_OBJECT("spec", OPTIONAL),
	REPO_FIELD,
	SECRET_FIELD,
	READ_ONLY_FIELDS,
	FIELD_END,
};

static const struct constraint CONSTRAINTS[] = {
	{"template_name", ERR_CONFLICT, NULL, "a template of this name exists"},
	{"template_max", ERR_CONFLICT, NULL,
         "this account has as many templates as it may; change one instead of making another"},
	{0},
};

/* All faults are reported together, those of the spec first. */
static struct template_input *read_input(struct request *rq, const struct field *fields)
{
	yyjson_val *spec = json_get(request_body(rq), "spec");
	if (yyjson_is_obj(spec))
		spec_check(rq->arena, &rq->problem, spec);
	return request_input(rq, struct template_input, fields);
}

static struct pg_param sealed_param(struct request *rq, const char *id, const char *secret)
{
	if (!secret)
		return pg_null();
	struct sealed sealed = webhook_secret_seal(rq, id, secret);
	return pg_bytes(sealed.data, sealed.length);
}

void template_list(struct request *rq)
{
	struct template_input *in = request_input(rq, struct template_input, LIST_FIELDS);
	struct pg_rows *rows =
		pg_query(rq, TEMPLATE_LIST_SQL, pg_uuid(rq->caller.account), pg_int(in->limit),
	                 pg_int(in->offset), pg_text(rq->caller.repo));
	reply_page(rq, rows, in->limit, in->offset);
}

void template_create(struct request *rq)
{
	struct template_input *in = read_input(rq, CREATE_FIELDS);
	const char *id = pg_uuid(uuid_new()).text;
	struct pg_rows *rows =
		pg_write(rq, CONSTRAINTS, TEMPLATE_CREATE_SQL, pg_uuid(rq->caller.account),
	                 pg_text(id), pg_text(request_body_json(rq)),
	                 sealed_param(rq, id, in->secret), pg_int(templates_max));
	reply_json(rq, 201, pg_json(rows));
}

void template_get(struct request *rq)
{
	struct template_input *in = request_input(rq, struct template_input, ID_FIELDS);
	struct pg_rows *rows = pg_query(rq, TEMPLATE_GET_SQL, pg_text(in->id),
	                                pg_uuid(rq->caller.account), pg_text(rq->caller.repo));
	etag_reply_object(rq, 200, rows, "template");
}

void template_update(struct request *rq)
{
	struct template_input *in = read_input(rq, UPDATE_FIELDS);
	request_require_member(rq);
	struct pg_rows *rows = pg_write(rq, CONSTRAINTS, TEMPLATE_UPDATE_SQL, pg_text(in->id),
	                                pg_uuid(rq->caller.account), pg_text(request_body_json(rq)),
	                                pg_bool(yyjson_obj_get(rq->http->json, "webhook_secret")),
	                                sealed_param(rq, in->id, in->secret),
	                                pg_text(etag_if_match(rq)), pg_int(versions_max));
	require_row(rq, rows, MISSING);
	if (pg_get_bool(rows, 0, "is_locked"))
		raise_error(rq, ERR_CONFLICT, "the template is locked");
	etag_reply_object(rq, 200, rows, "template");
}

void template_lock(struct request *rq)
{
	struct template_input *in = request_input(rq, struct template_input, ID_FIELDS);
	audited_begin(rq); /* committed together with the answer */
	struct pg_rows *rows =
		pg_query(rq, TEMPLATE_LOCK_SQL, pg_text(in->id), pg_uuid(rq->caller.account));
	reply_one(rq, 200, rows, MISSING);
}
