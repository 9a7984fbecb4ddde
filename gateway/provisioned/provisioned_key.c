#include "provisioned/provisioned_key.h"

#include "audit/audit.h"
#include "crypto/scope.h"
#include "input/input.h"
#include "input/key_limit.h"
#include "json/json.h"
#include "key/key.h"
#include "key/key_change.h"
#include "key/preset.h"
#include "pg/pg.h"
#include "provisioned_key.sql.h"
#include "reply/reply.h"
#include "reply/resource.h"

struct provisioned_key_input {
	const char *id;
	const char *name;
	const char *purpose; /* NULL: temporary */
	const char *repo;
	const char *interest;
	const char *scopes; /* JSON array; NULL: those of the preset */
	const char *maker;  /* id of the key on whose behalf it is made; NULL: none */
	int64_t expires_in_seconds;
	bool is_repo_verified;
};

static const struct field CREATE_FIELDS[] = {
	BODY_TEXT(struct provisioned_key_input, name, "name", REQUIRED | TRIMMED, 1, KEY_NAME_MAX),
	BODY_TEXT(struct provisioned_key_input, purpose, "purpose", NULLABLE, 1, KEY_PURPOSE_MAX),
	{IN_BODY, FIELD_TEXT, "repo", FIELD_AT(struct provisioned_key_input, repo, const char *),
         REQUIRED, 3, REPO_MAX, .check = repo_check},
	BODY_UUID(struct provisioned_key_input, interest, "interest_id", REQUIRED),
	BODY_STRINGS(struct provisioned_key_input, scopes, "scopes", OPTIONAL, 1, SCOPE_COUNT, 64),
	BODY_UUID(struct provisioned_key_input, maker, "maker_id", NULLABLE),
	BODY_INT(struct provisioned_key_input, expires_in_seconds, "expires_in_seconds", OPTIONAL,
                 1, KEY_PROVISIONED_MAX_S, KEY_PROVISIONED_MAX_S),
	BODY_BOOL(struct provisioned_key_input, is_repo_verified, "repo_verified", OPTIONAL, false),
	FIELD_END,
};

static const struct field CHECK_FIELDS[] = {
	BODY_UUID(struct provisioned_key_input, maker, "maker_id", REQUIRED),
	FIELD_END,
};

static const struct field ID_FIELDS[] = {
	BODY_UUID(struct provisioned_key_input, id, "key_id", REQUIRED),
	FIELD_END,
};

static const struct field REVOKE_FIELDS[] = {
	BODY_UUID(struct provisioned_key_input, id, "key_id", OPTIONAL),
	BODY_TEXT(struct provisioned_key_input, purpose, "purpose", OPTIONAL, 1, KEY_PURPOSE_MAX),
	JSON_OBJECT("by", OPTIONAL), /* whose request it is, as audited_by() tells */
	FIELD_END,
};

/* The scopes of the key: those of the preset `automation`, or some of them. */
static uint64_t input_scopes(struct request *rq, const struct provisioned_key_input *in)
{
	uint64_t preset = preset_scopes("automation");
	if (!in->scopes)
		return preset;
	uint64_t scopes = key_scopes_read(rq);
	if (scopes & ~preset)
		problem_add_field(rq->arena, &rq->problem, "scopes",
		                  "must be scopes of the preset automation");
	return scopes;
}

/* Keys are made for many runs, and a key that is new to all caches invalidates none. */
static void commit_replacement(struct request *rq, const char *replaced)
{
	if (!replaced) {
		pg_commit(rq);
		return;
	}
	key_change_commit(rq);
	key_log_revoked(replaced);
}

void provisioned_key_create(struct request *rq)
{
	struct provisioned_key_input *in =
		request_input(rq, struct provisioned_key_input, CREATE_FIELDS);
	uint64_t scopes = input_scopes(rq, in);
	if (!in->purpose && in->expires_in_seconds > KEY_TEMPORARY_MAX_S)
		problem_add_field(rq->arena, &rq->problem, "expires_in_seconds",
		                  "must be %d or less without a purpose", KEY_TEMPORARY_MAX_S);
	raise_if_faults(rq);
	struct key_secret secret = key_secret_new(rq, KEY_AUTOMATION);
	audit_begin_as(rq, in->maker);
	if (in->maker)
		key_require_role(rq, in->maker, KEY_AUTOMATION, scopes);
	struct pg_rows *rows =
		pg_query(rq, PROVISIONED_KEY_CREATE_SQL, pg_uuid(rq->caller.account),
	                 pg_text(in->maker), pg_text(in->name), secret.shown, secret.hash,
	                 pg_text(key_scopes_json(rq, scopes)), pg_text(in->repo),
	                 pg_text(in->interest), pg_text(in->purpose),
	                 pg_int(in->expires_in_seconds), pg_bool(in->is_repo_verified));
	key_require_made(rq, rows);
	commit_replacement(rq, pg_get(rows, 0, "replaced"));
	reply_is_secret(rq);
	reply_json(rq, 200, key_json_with_text(rq, &secret, pg_json(rows)));
}

void provisioned_key_check(struct request *rq)
{
	struct provisioned_key_input *in =
		request_input(rq, struct provisioned_key_input, CHECK_FIELDS);
	uint64_t scopes = preset_scopes("automation");
	key_require_scopes(rq, in->maker, KEY_AUTOMATION, scopes);
	reply_json(rq, 200,
	           arena_printf(rq->arena, "{\"scopes\": %s}", key_scopes_json(rq, scopes)));
}

void provisioned_key_get(struct request *rq)
{
	struct provisioned_key_input *in =
		request_input(rq, struct provisioned_key_input, ID_FIELDS);
	struct pg_rows *rows =
		pg_query(rq, PROVISIONED_KEY_GET_SQL, pg_text(in->id), pg_uuid(rq->caller.account));
	reply_one(rq, 200, rows, "no such key");
}

void provisioned_key_revoke(struct request *rq)
{
	struct provisioned_key_input *in =
		request_input(rq, struct provisioned_key_input, REVOKE_FIELDS);
	if (!in->id == !in->purpose)
		raise_field(rq, "key_id", "or purpose must be given, one of them");
	audit_begin_for(rq, json_get(request_body(rq), "by"));
	struct pg_rows *rows = pg_query(rq, PROVISIONED_KEY_REVOKE_SQL, pg_text(in->id),
	                                pg_uuid(rq->caller.account), pg_text(in->purpose));
	key_invalidate(rq, rows, pg_empty(rows) ? NULL : pg_get(rows, 0, "id"));
}
