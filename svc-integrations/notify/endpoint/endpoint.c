#include "notify/endpoint/endpoint.h"

#include "client/mail_header.h"
#include "endpoint.sql.h"
#include "input/input.h"
#include "input/key_limit.h"
#include "json/json.h"
#include "notify/digest/digest.h"
#include "notify/endpoint/email_confirmation.h"
#include "notify/endpoint/endpoint_email.h"
#include "notify/endpoint/endpoint_kind.h"
#include "notify/endpoint/endpoint_secret.h"
#include "notify/endpoint/endpoint_url.h"
#include "notify/endpoint/event_type.h"
#include "observe/log.h"
#include "pg/pg.h"
#include "reply/resource.h"
#include "request/audited.h"

#include <string.h>

#define EVENTS_MAX      50
#define EVENT_TYPE_MAX  64
#define NARROWING_MAX   100
#define OLD_VALID_S     86400
#define OLD_VALID_MAX_S 604800

struct endpoint_input {
	const char *id, *kind, *url, *email;
	int64_t limit, offset;
	int64_t old_valid_s;
	bool is_forced;
};

static const char MISSING[] = "no such webhook";
static const char *const STATUSES[] = {"active", "paused", "disabled", "unconfirmed", NULL};

#define URL_FIELD(flags)                                                                       \
	{                                                                                      \
		IN_BODY, FIELD_URL, "url", FIELD_AT(struct endpoint_input, url, const char *), \
			(flags), 1, 2048, .check = endpoint_url_check                          \
	}

#define EMAIL_FIELD                                                                               \
	{                                                                                         \
		IN_BODY, FIELD_TEXT, "email",                                                     \
			FIELD_AT(struct endpoint_input, email, const char *), TRIMMED | NULLABLE, \
			1, MAIL_ADDRESS_MAX, .check = mail_address_check                          \
	}

/* What an endpoint wants to hear of. */
#define WANTED_FIELDS(flags)                                                             \
	JSON_STRINGS("events", (flags), 1, EVENTS_MAX, EVENT_TYPE_MAX),                  \
		JSON_STRINGS("repos", NULLABLE, 1, NARROWING_MAX, REPO_MAX),             \
		JSON_STRINGS("interest_ids", NULLABLE, 1, NARROWING_MAX, UUID_TEXT_LEN), \
		JSON_OBJECT_OF("digest", NULLABLE | OTHERS_IGNORED, DIGEST_FIELDS)

#define READ_ONLY_FIELDS                                                              \
	READ_ONLY("id"), READ_ONLY("disabled_reason"), READ_ONLY("person_id"),        \
		READ_ONLY("confirmation"), READ_ONLY("failing_since"),                \
		READ_ONLY("consecutive_failures"), READ_ONLY("last_success_at"),      \
		READ_ONLY("waiting"), READ_ONLY("dropped"), READ_ONLY("secret_hint"), \
		READ_ONLY("old_secret_expires_at"), READ_ONLY("created_at"),          \
		READ_ONLY("updated_at")

static const struct field LIST_FIELDS[] = {
	QUERY_LIMIT(struct endpoint_input, limit, 20, 100),
	QUERY_OFFSET(struct endpoint_input, offset),
	FIELD_END,
};

static const struct field ID_FIELDS[] = {
	PATH_UUID(struct endpoint_input, id, "webhook_id"),
	FIELD_END,
};

static const struct field CREATE_FIELDS[] = {
	BODY_ENUM(struct endpoint_input, kind, "kind", REQUIRED, ENDPOINT_KINDS),
	JSON_TEXT("name", TRIMMED, 1, 100),
	URL_FIELD(NULLABLE),
	EMAIL_FIELD,
	WANTED_FIELDS(REQUIRED),
	READ_ONLY("status"),
	READ_ONLY_FIELDS,
	FIELD_END,
};

static const struct field UPDATE_FIELDS[] = {
	PATH_UUID(struct endpoint_input, id, "webhook_id"),
	JSON_TEXT("name", TRIMMED, 1, 100),
	URL_FIELD(NULLABLE),
	EMAIL_FIELD,
	WANTED_FIELDS(OPTIONAL),
	JSON_ENUM("status", OPTIONAL, STATUSES),
	READ_ONLY("kind"),
	READ_ONLY_FIELDS,
	FIELD_END,
};

static const struct field ROTATE_FIELDS[] = {
	PATH_UUID(struct endpoint_input, id, "webhook_id"),
	BODY_INT(struct endpoint_input, old_valid_s, "old_valid_seconds", OPTIONAL, 0,
                 OLD_VALID_MAX_S, OLD_VALID_S),
	BODY_BOOL(struct endpoint_input, is_forced, "force", OPTIONAL, false),
	FIELD_END,
};

static const struct constraint CONSTRAINTS[] = {
	{"endpoint_max", ERR_TOO_MANY_ENDPOINTS, NULL,
         "an account may have 20 endpoints; delete one first"},
	{"endpoint_maker_gone", ERR_FORBIDDEN, NULL, "you are no member of the account any more"},
	{"endpoint_time_zone", ERR_INVALID, "digest.time_zone",
         "must be UTC or a name of the time zone database, such as Europe/Berlin"},
	{"endpoint_unconfirmed", ERR_CONFLICT, NULL,
         "the address is not confirmed: its owner has to follow the link in the mail, which POST "
         "/webhooks/{webhook_id}/confirmation sends again"},
	{"endpoint_status", ERR_INVALID, "status", "must be active or paused, or stay as it is"},
	{"endpoint_without_secret", ERR_CONFLICT, NULL,
         "only endpoints of the kind webhook have a secret"},
	EMAIL_CONFIRMATION_CONSTRAINTS,
	{0},
};

/* What is no text is a fault that the field's own check finds. */
static bool is_event_type(yyjson_val *item)
{
	return !yyjson_is_str(item) ||
	       event_type_is_known(yyjson_get_str(item), yyjson_get_len(item));
}

static bool is_repo(yyjson_val *item)
{
	const char *message;
	return !yyjson_is_str(item) ||
	       repo_check(yyjson_get_str(item), yyjson_get_len(item), &message);
}

/* The member of the body that does not fit the kind of the endpoint, which has either a URL or the
 * address of a mail, and why; NULL: none. */
static const char *address_fault(struct request *rq, const char *kind, bool is_new,
                                 const char **ret_name)
{
	bool is_email = strcmp(kind, "email") == 0;
	const char *needed = is_email ? "email" : "url";
	bool is_needed = is_new || json_get(request_body(rq), needed);
	*ret_name = is_email ? "url" : "email";
	if (request_has_member(rq, *ret_name))
		return is_email ? "an endpoint of the kind email has none"
		                : "only an endpoint of the kind email has one";
	*ret_name = needed;
	return is_needed && !request_has_member(rq, needed) ? "is required" : NULL;
}

/* All faults are reported together. */
static struct endpoint_input *read_input(struct request *rq, const struct field *fields)
{
	request_check_items(rq, "events", is_event_type,
	                    "is no type of messages; GET /webhooks/event-types lists them");
	request_check_items(rq, "interest_ids", item_is_uuid, "must be the id of an interest");
	request_check_items(rq, "repos", is_repo, "must be owner/name");
	digest_check(rq);
	return request_input(rq, struct endpoint_input, fields);
}

void endpoint_list(struct request *rq)
{
	struct endpoint_input *in = request_input(rq, struct endpoint_input, LIST_FIELDS);
	struct pg_rows *rows = pg_query(rq, ENDPOINT_LIST_SQL, pg_uuid(rq->caller.account),
	                                pg_int(in->limit), pg_int(in->offset));
	reply_page(rq, rows, in->limit, in->offset);
}

/* Reply with an endpoint and its secret. */
static void reply_secret(struct request *rq, int status, const char *endpoint, const char *secret)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *answer = yyjson_val_mut_copy(doc, json_parse_own(rq->arena, endpoint));
	yyjson_mut_doc_set_root(doc, answer);
	yyjson_mut_obj_add_str(doc, answer, "secret", secret);
	reply_is_secret(rq);
	reply_doc(rq, status, doc);
}

static void require_slack_url(struct request *rq, const char *url)
{
	if (!endpoint_url_is_slack(url))
		raise_field(rq, "url", "must begin with https://hooks.slack.com/services/");
}

/* The body, with the address of a Slack endpoint as it is shown. */
static yyjson_mut_doc *body_masked(struct request *rq, const char *url)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *body =
		yyjson_val_mut_copy(doc, json_parse_own(rq->arena, request_body_json(rq)));
	yyjson_mut_doc_set_root(doc, body);
	yyjson_mut_obj_put(body, yyjson_mut_str(doc, "url"),
	                   yyjson_mut_str(doc, endpoint_url_masked(rq->arena, url)));
	return doc;
}

static struct pg_rows *create(struct request *rq, const char *id, const char *body,
                              const struct endpoint_secret *secret)
{
	audited_begin(rq); /* committed together with the answer */
	return pg_write(rq, CONSTRAINTS, ENDPOINT_CREATE_SQL, pg_text(id),
	                pg_uuid(rq->caller.account), pg_text(body),
	                pg_bytes(secret->sealed.data, secret->sealed.length), pg_text(secret->hint),
	                pg_int(ENDPOINTS_MAX), caller_key(rq), caller_person(rq));
}

static void create_slack(struct request *rq, const struct endpoint_input *in, const char *id)
{
	require_slack_url(rq, in->url);
	struct endpoint_secret secret =
		endpoint_secret_of(rq, id, pg_uuid(rq->caller.account).text, in->url);
	yyjson_mut_doc *body = body_masked(rq, in->url);
	const char *text = json_write_mut(rq->arena, yyjson_mut_doc_get_root(body), NULL);
	reply_json(rq, 201, pg_json(create(rq, id, text, &secret)));
}

void endpoint_create(struct request *rq)
{
	const char *kind = json_get_text(request_body(rq), "kind"), *name;
	const char *fault = address_fault(rq, kind ? kind : "webhook", true, &name);
	if (fault)
		problem_add_field(rq->arena, &rq->problem, name, "%s", fault);
	struct endpoint_input *in = read_input(rq, CREATE_FIELDS);
	const char *id = pg_uuid(uuid_new()).text;
	if (strcmp(in->kind, "email") == 0) {
		reply_json(rq, 201,
		           pg_json(endpoint_email_create(rq, CONSTRAINTS, id, ENDPOINTS_MAX)));
		return;
	}
	if (strcmp(in->kind, "slack") == 0) {
		create_slack(rq, in, id);
		return;
	}
	struct endpoint_secret secret =
		endpoint_secret_new(rq, id, pg_uuid(rq->caller.account).text);
	struct pg_rows *rows = create(rq, id, request_body_json(rq), &secret);
	reply_secret(rq, 201, pg_json(rows), secret.text);
}

void endpoint_get(struct request *rq)
{
	struct endpoint_input *in = request_input(rq, struct endpoint_input, ID_FIELDS);
	reply_one(rq, 200,
	          pg_query(rq, ENDPOINT_GET_SQL, pg_text(in->id), pg_uuid(rq->caller.account)),
	          MISSING);
}

/* The body with the new address of a Slack endpoint, sealed. */
static const char *body_of_slack(struct request *rq, const struct endpoint_input *in)
{
	require_slack_url(rq, in->url);
	struct endpoint_secret secret =
		endpoint_secret_of(rq, in->id, pg_uuid(rq->caller.account).text, in->url);
	yyjson_mut_doc *doc = body_masked(rq, in->url);
	yyjson_mut_val *body = yyjson_mut_doc_get_root(doc);
	yyjson_mut_obj_add_str(doc, body, "secret",
	                       pg_bytes(secret.sealed.data, secret.sealed.length).text);
	yyjson_mut_obj_add_str(doc, body, "secret_hint", secret.hint);
	return json_write_mut(rq->arena, body, NULL);
}

static struct pg_rows *update(struct request *rq, const char *id, const char *body)
{
	return pg_write(rq, CONSTRAINTS, ENDPOINT_UPDATE_SQL, pg_text(id),
	                pg_uuid(rq->caller.account), pg_text(body), caller_key(rq),
	                caller_person(rq));
}

/* Change an endpoint of which the body has the address, too: as it is shown, or another. */
static struct pg_rows *change_address(struct request *rq, const struct endpoint_input *in)
{
	const char *name, *body = request_body_json(rq);
	struct pg_param account = pg_uuid(rq->caller.account);
	struct pg_rows *rows = pg_query(rq, ENDPOINT_KIND_SQL, pg_text(in->id), account);
	require_row(rq, rows, MISSING);
	enum endpoint_kind kind = endpoint_kind_of(pg_get(rows, 0, "kind"));
	const char *fault = address_fault(rq, ENDPOINT_KINDS[kind], false, &name);
	const char *given = kind == ENDPOINT_EMAIL ? in->email : in->url;
	if (fault)
		raise_field(rq, name, "%s", fault);
	bool is_as_shown = !given || strcmp(pg_get(rows, 0, "url"), given) == 0;
	if (kind == ENDPOINT_EMAIL && !is_as_shown)
		return endpoint_email_readdress(rq, CONSTRAINTS, in->id);
	if (kind == ENDPOINT_SLACK && !is_as_shown)
		body = body_of_slack(rq, in);
	return update(rq, in->id, body);
}

void endpoint_update(struct request *rq)
{
	struct endpoint_input *in = read_input(rq, UPDATE_FIELDS);
	request_require_member(rq);
	yyjson_val *body = request_body(rq);
	bool has_address = json_get(body, "url") || json_get(body, "email");
	audited_begin(rq);
	reply_one(rq, 200,
	          has_address ? change_address(rq, in) : update(rq, in->id, request_body_json(rq)),
	          MISSING);
}

void endpoint_delete(struct request *rq)
{
	struct endpoint_input *in = request_input(rq, struct endpoint_input, ID_FIELDS);
	audited_begin(rq);
	struct pg_rows *rows =
		pg_query(rq, ENDPOINT_DELETE_SQL, pg_text(in->id), pg_uuid(rq->caller.account));
	require_row(rq, rows, MISSING);
	pg_commit(rq);
	log_always("endpoint deleted", f_text("endpoint_id", in->id));
	reply_json(rq, 200, pg_json(rows));
}

void endpoint_rotate(struct request *rq)
{
	struct endpoint_input *in = request_input(rq, struct endpoint_input, ROTATE_FIELDS);
	struct pg_param account = pg_uuid(rq->caller.account);
	struct endpoint_secret secret = endpoint_secret_new(rq, in->id, account.text);
	audited_begin(rq);
	struct pg_rows *rows =
		pg_write(rq, CONSTRAINTS, ENDPOINT_ROTATE_SQL, pg_text(in->id), account,
	                 pg_bytes(secret.sealed.data, secret.sealed.length), pg_text(secret.hint),
	                 pg_int(in->old_valid_s), pg_bool(in->is_forced));
	require_row(rq, rows, MISSING);
	if (!pg_value(rows, 0))
		raise_error(rq, ERR_CONFLICT,
		            "the old secret still signs; set force to give it up now");
	reply_secret(rq, 200, pg_json(rows), secret.text);
}
