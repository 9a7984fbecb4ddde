#include "key/key.h"

#include "audit/audit.h"
#include "crypto/scope.h"
#include "input/input.h"
#include "input/key_limit.h"
#include "json/json.h"
#include "key.sql.h"
#include "key/key_change.h"
#include "key/key_text.h"
#include "key/preset.h"
#include "key/role.h"
#include "observe/log.h"
#include "pg/pg.h"
#include "reply/reply.h"
#include "reply/resource.h"
#include "service/repository_name.h"

#include <string.h>

#define AUTOMATION_DAYS   365
#define PERSONAL_DAYS_MAX 3650
#define LIST_DEFAULT      20
#define LIST_MAX          100

static const char *const KINDS[] = {"personal", "automation", NULL};

struct key_input {
	const char *id;
	const char *name;
	const char *kind;
	const char *scopes; /* JSON array; NULL: not given */
	const char *preset;
	const char *repo;
	const char *interest;
	int64_t expires_in_days; /* 0: not given */
};

struct list_input {
	int64_t limit, offset;
};

static const struct field LIST_FIELDS[] = {
	QUERY_LIMIT(struct list_input, limit, LIST_DEFAULT, LIST_MAX),
	QUERY_OFFSET(struct list_input, offset),
	FIELD_END,
};

/* What a key has besides, which nobody writes. */
#define READ_ONLY_FIELDS                                                                           \
	READ_ONLY("id"), READ_ONLY("prefix"), READ_ONLY("repo_verified"), READ_ONLY("created_at"), \
		READ_ONLY("last_used_at"), READ_ONLY("expires_at"), READ_ONLY("revoked_at"),       \
		READ_ONLY("person"), READ_ONLY("status")

static const struct field CREATE_FIELDS[] = {
	BODY_TEXT(struct key_input, name, "name", REQUIRED | TRIMMED, 1, KEY_NAME_MAX),
	BODY_ENUM(struct key_input, kind, "kind", OPTIONAL, KINDS),
	BODY_STRINGS(struct key_input, scopes, "scopes", OPTIONAL, 1, SCOPE_COUNT, 64),
	BODY_ENUM(struct key_input, preset, "preset", OPTIONAL, PRESET_NAMES),
	{IN_BODY, FIELD_TEXT, "repo", FIELD_AT(struct key_input, repo, const char *), NULLABLE, 3,
         REPO_MAX, .check = repo_check},
	BODY_UUID(struct key_input, interest, "interest_id", NULLABLE),
	BODY_INT(struct key_input, expires_in_days, "expires_in_days", NULLABLE, 1,
                 PERSONAL_DAYS_MAX, 0),
	READ_ONLY_FIELDS,
	READ_ONLY("key"),
	FIELD_END,
};

static const struct field UPDATE_FIELDS[] = {
	PATH_UUID(struct key_input, id, "key_id"),
	BODY_TEXT(struct key_input, name, "name", TRIMMED, 1, KEY_NAME_MAX),
	BODY_STRINGS(struct key_input, scopes, "scopes", OPTIONAL, 1, SCOPE_COUNT, 64),
	BODY_INT(struct key_input, expires_in_days, "expires_in_days", NULLABLE, 1,
                 PERSONAL_DAYS_MAX, 0),
	READ_ONLY_FIELDS,
	READ_ONLY("kind"),
	READ_ONLY("repo"),
	READ_ONLY("interest_id"),
	FIELD_END,
};

static const struct field ID_FIELDS[] = {
	PATH_UUID(struct key_input, id, "key_id"),
	FIELD_END,
};

void key_list(struct request *rq)
{
	struct list_input *in = request_input(rq, struct list_input, LIST_FIELDS);
	struct pg_param only = key_is_limited(rq) ? caller_key(rq) : pg_null();
	struct pg_rows *rows =
		pg_query(rq, KEY_LIST_SQL, pg_uuid(rq->caller.account), pg_int(in->limit),
	                 pg_int(in->offset), only, caller_key(rq));
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *root = yyjson_mut_obj(doc);
	yyjson_mut_doc_set_root(doc, root);
	yyjson_mut_obj_add_val(doc, root, "keys", yyjson_mut_raw(doc, pg_json(rows)));
	yyjson_mut_obj_add_val(doc, root, "scopes", scope_catalog(doc));
	yyjson_mut_obj_add_val(doc, root, "presets", preset_catalog(doc));
	reply_page_fields(rq, "limit", pg_get_int(rows, 0, "total"), in->limit, in->offset);
	reply_doc(rq, 200, doc);
}

const char *key_scopes_json(struct request *rq, uint64_t scopes)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	return json_write_mut(rq->arena, scope_names(doc, scopes), NULL);
}

uint64_t key_scopes_read(struct request *rq)
{
	uint64_t mask = SCOPE_NONE;
	size_t index, count;
	yyjson_val *item;
	yyjson_arr_foreach (json_get(request_body(rq), "scopes"), index, count, item) {
		if (index >= SCOPE_COUNT || !yyjson_is_str(item)) /* the table's row says so */
			break;
		uint64_t bit = scope_mask(yyjson_get_str(item));
		if (!bit)
			problem_add_field(rq->arena, &rq->problem, "scopes",
			                  "item %zu is not a scope", index);
		mask |= bit;
	}
	return mask;
}

static uint64_t preset_of(const struct key_input *in, bool is_automation)
{
	return preset_scopes(in->preset      ? in->preset
	                     : is_automation ? "automation"
	                                     : "full_access");
}

static bool is_kind(const char *kind, const char *name)
{
	return kind && strcmp(kind, name) == 0;
}

/* Add a fault for each member that a key of this kind cannot have. Before request_input(). */
static void check_kind(struct request *rq)
{
	struct problem *problem = &rq->problem;
	bool is_automation = is_kind(json_get_text(request_body(rq), "kind"), "automation");
	if (request_has_member(rq, "scopes") && request_has_member(rq, "preset"))
		problem_add_field(rq->arena, problem, "preset", "cannot be given with scopes");
	if (is_automation && request_has_member(rq, "expires_in_days"))
		problem_add_field(
			rq->arena, problem, "expires_in_days",
			"cannot be set for an automation key, which expires after %d days",
			AUTOMATION_DAYS);
	if (!is_automation && request_has_member(rq, "repo"))
		problem_add_field(rq->arena, problem, "repo", "is only for automation keys");
	if (!is_automation && request_has_member(rq, "interest_id"))
		problem_add_field(rq->arena, problem, "interest_id", "is only for automation keys");
}

static attr_noreturn void refuse_maker(struct request *rq)
{
	raise_error(rq, ERR_UNAUTHENTICATED, "the key is no longer valid");
}

/* A key can only grant scopes that it has. */
static attr_noreturn void refuse_scopes(struct request *rq, const char *lacking)
{
	rq->problem.scope = lacking;
	raise_error(rq, ERR_SCOPE,
	            "a key cannot grant a scope that it or the role of its person lacks: %s",
	            lacking);
}

/* The names of the scopes, with spaces between them. In the arena. */
static const char *scope_text(struct arena *arena, uint64_t scopes)
{
	struct buf text = {.arena = arena};
	for (int bit = 0; bit < SCOPE_COUNT; bit++)
		if (scopes & UINT64_C(1) << bit)
			buf_printf(&text, "%s%s", text.length ? " " : "", scope_info(bit)->name);
	return text.data;
}

const char *key_role(struct request *rq, const char *key)
{
	struct pg_rows *rows =
		pg_query(rq, KEY_ACTOR_SQL, pg_uuid(rq->caller.account), pg_text(key));
	const char *role = pg_empty(rows) ? NULL : pg_get(rows, 0, "role");
	if (!role)
		refuse_maker(rq);
	return role;
}

/* What who acts with the key may give another one. What is an operator's, only such a key has. */
static uint64_t grants_of(struct request *rq, const char *maker, enum key_kind kind)
{
	return role_grants(key_role(rq, maker), kind) | SCOPE_OPERATOR;
}

void key_require_role(struct request *rq, const char *maker, enum key_kind kind, uint64_t scopes)
{
	uint64_t lacking = scopes & ~grants_of(rq, maker, kind);
	if (lacking)
		refuse_scopes(rq, scope_text(rq->arena, lacking));
}

void key_require_scopes(struct request *rq, const char *maker, enum key_kind kind, uint64_t scopes)
{
	key_require_role(rq, maker, kind, scopes);
	struct pg_rows *rows = pg_query(rq, KEY_LACKING_SQL, pg_uuid(rq->caller.account),
	                                pg_text(maker), pg_text(key_scopes_json(rq, scopes)));
	if (pg_empty(rows))
		refuse_maker(rq);
	if (pg_get(rows, 0, "lacking"))
		refuse_scopes(rq, pg_get(rows, 0, "lacking"));
}

void key_require_made(struct request *rq, const struct pg_rows *rows)
{
	const char *outcome = pg_get(rows, 0, "outcome");
	if (strcmp(outcome, "no_account") == 0)
		raise_error(rq, ERR_NOT_FOUND, "no such account");
	if (strcmp(outcome, "maker_refused") == 0)
		refuse_maker(rq);
	if (strcmp(outcome, "scopes_lacking") == 0)
		refuse_scopes(rq,
		              json_get_text(json_parse_own(rq->arena, pg_json(rows)), "scopes"));
	if (strcmp(outcome, "too_many") == 0)
		raise_error(
			rq, ERR_CONFLICT,
			"you have 200 keys of the account that are not revoked; revoke one first");
	if (strcmp(outcome, "too_many_of_account") == 0)
		raise_error(rq, ERR_CONFLICT,
		            "the account has 1,000 keys that are not revoked; revoke one first");
}

struct key_secret key_secret_new(struct request *rq, enum key_kind kind)
{
	char text[KEY_TEXT_MAX + 1];
	uint8_t hash[SHA256_LEN];
	key_text_make(kind, text);
	key_text_hash(text, hash);
	struct key_secret secret = {
		.text = arena_strdup(rq->arena, text),
		.shown = pg_text(arena_strndup(rq->arena, text, KEY_SHOWN_LEN)),
		.hash = pg_bytes(arena_memdup(rq->arena, hash, sizeof(hash)), sizeof(hash)),
	};
	explicit_bzero(text, sizeof(text));
	return secret;
}

const char *key_json_with_text(struct request *rq, const struct key_secret *secret,
                               const char *json)
{
	/* {"id":…} becomes {"key":"usr_…","id":…}. */
	return arena_printf(rq->arena, "{\"key\": \"%s\", %s", secret->text, json + 1);
}

const char *key_insert(struct request *rq, struct pg_param account, const struct new_key *key)
{
	struct key_secret secret = key_secret_new(rq, key->kind);
	struct pg_rows *rows =
		pg_query(rq, KEY_CREATE_SQL, account, caller_key(rq), pg_text(key->name),
	                 pg_text(key_kind_name(key->kind)), secret.shown, secret.hash,
	                 pg_text(key_scopes_json(rq, key->scopes)), pg_text(key->repo),
	                 pg_text(key->interest),
	                 key->expires_in_days ? pg_int(key->expires_in_days) : pg_null());
	key_require_made(rq, rows);
	return key_json_with_text(rq, &secret, pg_json(rows));
}

/* A session may do less than its key. What an agent's key has besides, the role of its maker says
 * (role_grants()). */
static void require_caller_has(struct request *rq, enum key_kind kind, uint64_t scopes)
{
	uint64_t agents = kind == KEY_AUTOMATION ? preset_scopes("automation") : SCOPE_NONE;
	uint64_t lacking = scopes & ~(rq->caller.scopes | agents);
	if (lacking)
		refuse_scopes(rq, scope_text(rq->arena, lacking));
}

/* The scopes of a new key: those that the body lists, or what the role allows of a preset. */
static uint64_t new_scopes(struct request *rq, const struct key_input *in, enum key_kind kind,
                           uint64_t listed)
{
	const char *maker = caller_key(rq).text;
	uint64_t scopes = listed;
	if (in->scopes)
		key_require_role(rq, maker, kind, listed);
	else
		scopes = preset_of(in, kind == KEY_AUTOMATION) & grants_of(rq, maker, kind);
	require_caller_has(rq, kind, scopes);
	return scopes;
}

void key_create(struct request *rq)
{
	check_kind(rq);
	uint64_t listed = key_scopes_read(rq);
	struct key_input *in = request_input(rq, struct key_input, CREATE_FIELDS);
	enum key_kind kind = is_kind(in->kind, "automation") ? KEY_AUTOMATION : KEY_PERSONAL;
	if (rq->caller.kind != KEY_PERSONAL)
		raise_error(rq, ERR_FORBIDDEN, "an automation key cannot create keys");
	audit_begin(rq);
	struct new_key key = {
		.name = in->name,
		.kind = kind,
		.scopes = new_scopes(rq, in, kind, listed),
		.repo = in->repo,
		.interest = in->interest,
		.expires_in_days = kind == KEY_AUTOMATION ? AUTOMATION_DAYS : in->expires_in_days,
	};
	const char *json = key_insert(rq, pg_uuid(rq->caller.account), &key);
	pg_commit(rq);
	reply_is_secret(rq);
	reply_json(rq, 201, json);
}

static void require_found(struct request *rq, const struct pg_rows *rows)
{
	if (pg_empty(rows))
		raise_error(rq, ERR_NOT_FOUND, "no such key");
}

/* Of a key that the caller may change. */
static const char *require_own(struct request *rq, const char *id)
{
	struct pg_rows *rows = pg_query(rq, KEY_KIND_SQL, pg_text(id), pg_uuid(rq->caller.account),
	                                caller_key(rq));
	require_found(rq, rows);
	if (!pg_get_bool(rows, 0, "is_own"))
		raise_error(rq, ERR_FORBIDDEN,
		            "only its person changes a key; others can revoke it");
	return pg_get(rows, 0, "kind");
}

/* Only the name of an automation key can be changed. */
static void require_changeable(struct request *rq, const char *kind)
{
	static const char *const PERSONAL_ONLY[] = {"scopes", "expires_in_days"};
	if (!is_kind(kind, "automation"))
		return;
	for (size_t i = 0; i < ARRAY_LEN(PERSONAL_ONLY); i++)
		if (json_get(request_body(rq), PERSONAL_ONLY[i]))
			problem_add_field(rq->arena, &rq->problem, PERSONAL_ONLY[i],
			                  "of an automation key cannot be changed");
	raise_if_faults(rq);
}

/* The scopes of a key that is valid. It stays as it is until the end of the transaction. */
static uint64_t valid_scopes(struct request *rq, const char *id)
{
	key_role(rq, caller_key(rq).text); /* locks the account, as each change of scopes does */
	struct pg_rows *rows = pg_query(rq, KEY_HOLD_SQL, pg_text(id), pg_uuid(rq->caller.account));
	require_found(rq, rows);
	if (!pg_get_bool(rows, 0, "is_valid"))
		raise_error(rq, ERR_CONFLICT,
		            "the key has expired or was revoked, which is final; make another one");
	return scope_masks(pg_get(rows, 0, "scopes"));
}

/* Who changes a key can grant what it may do afterwards, also when it only ends later: else a key
 * could prolong one that may do more. */
static void require_grants(struct request *rq, const struct key_input *in, uint64_t listed,
                           bool changes_expiry)
{
	uint64_t own = changes_expiry ? valid_scopes(rq, in->id) : SCOPE_NONE;
	uint64_t granted = in->scopes ? listed : own;
	if (!in->scopes && !changes_expiry)
		return;
	key_require_scopes(rq, caller_key(rq).text, KEY_PERSONAL, granted);
	require_caller_has(rq, KEY_PERSONAL, granted);
}

/* What a restore undoes: after it the key may do what it could before, and as long. */
static void log_changed(struct request *rq, const char *id)
{
	static const char *const CHANGED[] = {"name", "scopes", "expires_in_days"};
	struct buf changes = {.arena = rq->arena};
	for (size_t i = 0; i < ARRAY_LEN(CHANGED); i++)
		if (json_get(request_body(rq), CHANGED[i]))
			buf_printf(&changes, "%s%s", changes.length ? " " : "", CHANGED[i]);
	log_always("key changed", f_text("key_id", id), f_text("changes", changes.data));
}

void key_update(struct request *rq)
{
	uint64_t listed = key_scopes_read(rq);
	struct key_input *in = request_input(rq, struct key_input, UPDATE_FIELDS);
	request_require_member(rq);
	require_changeable(rq, require_own(rq, in->id));
	/* null is a value: never */
	bool changes_expiry = json_get(request_body(rq), "expires_in_days");
	audit_begin(rq);
	require_grants(rq, in, listed, changes_expiry);
	struct pg_rows *rows = pg_query(
		rq, KEY_UPDATE_SQL, pg_text(in->id), pg_uuid(rq->caller.account), pg_text(in->name),
		pg_text(in->scopes ? key_scopes_json(rq, listed) : NULL), pg_bool(changes_expiry),
		in->expires_in_days ? pg_int(in->expires_in_days) : pg_null(), caller_key(rq));
	require_found(rq, rows);
	key_change_commit(rq);
	log_changed(rq, in->id);
	reply_json(rq, 200, pg_json(rows));
}

void key_log_revoked(const char *id)
{
	log_always("key revoked", f_text("key_id", id));
}

void key_invalidate(struct request *rq, const struct pg_rows *rows, const char *id)
{
	require_found(rq, rows);
	key_change_commit(rq);
	key_log_revoked(id);
	reply_json(rq, 200, pg_json(rows));
}

void key_revoke(struct request *rq)
{
	struct key_input *in = request_input(rq, struct key_input, ID_FIELDS);
	audit_begin(rq);
	key_invalidate(rq,
	               pg_query(rq, KEY_REVOKE_SQL, pg_text(in->id), pg_uuid(rq->caller.account),
	                        caller_key(rq)),
	               in->id);
}

bool key_revoke_any(struct request *rq, const char *id)
{
	struct pg_rows *owner = pg_query(rq, KEY_OWNER_SQL, pg_text(id));
	if (pg_empty(owner))
		return false;
	audit_begin(rq);
	struct pg_rows *revoked = pg_query(rq, KEY_REVOKE_SQL, pg_text(id),
	                                   pg_text(pg_get(owner, 0, "account_id")), pg_null());
	pg_commit(rq);
	if (pg_empty(revoked))
		return false;
	key_log_revoked(id);
	return true;
}

void key_delete(struct request *rq)
{
	struct key_input *in = request_input(rq, struct key_input, ID_FIELDS);
	audit_begin(rq);
	key_invalidate(rq,
	               pg_query(rq, KEY_DELETE_SQL, pg_text(in->id), pg_uuid(rq->caller.account),
	                        caller_key(rq)),
	               in->id);
}

void key_repository_renamed(struct request *rq, const struct event *event)
{
	pg_begin(rq);
	on_repository_name(rq, event);
	key_change_commit(rq); /* keys are limited to a name */
}
