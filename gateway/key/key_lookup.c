#include "key/key_lookup.h"

#include "base/arena.h"
#include "crypto/scope.h"
#include "key.sql.h"
#include "key/role.h"
#include "pg/batch.h"
#include "pg/pg.h"

#include <string.h>

static bool names_persons;

const struct setting KEY_LOOKUP_SETTINGS[] = {
	SETTING_BOOL(&names_persons, "IDENTITY_PERSON", "false",
                     "Name the person behind a key or session to the services: set it once none of "
                     "a version before 0.2.0 runs."),
	SETTING_END,
};

static const char *sql_of(bool is_session)
{
	return is_session ? SESSION_LOOKUP_SQL : KEY_LOOKUP_SQL;
}

/* What the role of its person allows a key. */
static uint64_t scopes_of_role(const struct pg_rows *rows, int row)
{
	const char *role = pg_get(rows, row, "role");
	return role ? role_scopes(role, pg_get_bool(rows, row, "is_operator")) : SCOPE_ALL;
}

static struct cached_key read_row(const struct pg_rows *rows, int row)
{
	struct uuid person = {{0}};
	if (pg_get(rows, row, "person_id"))
		person = pg_get_uuid(rows, row, "person_id");
	bool is_automation = strcmp(pg_get(rows, row, "kind"), "automation") == 0;
	return (struct cached_key){
		.caller =
			{
				.account = pg_get_uuid(rows, row, "account_id"),
				.key_id = pg_get_uuid(rows, row, "id"),
				.person = names_persons ? person : (struct uuid){{0}},
				.kind = is_automation ? KEY_AUTOMATION : KEY_PERSONAL,
				.scopes = scope_masks(pg_get(rows, row, "scopes")) &
	                                  scopes_of_role(rows, row),
				.repo = pg_get(rows, row, "repo"),
				.interest = pg_get(rows, row, "interest_id"),
				.is_repo_verified = pg_get_bool(rows, row, "repo_verified"),
			},
		.key_account = pg_get_uuid(rows, row, "key_account_id"),
		.person = person,
		.expires_at_ms = pg_get_int(rows, row, "expires_at_ms"),
	};
}

bool key_lookup(struct request *rq, bool is_session, const uint8_t *hash,
                struct cached_key *ret_key)
{
	struct pg_rows *rows = pg_batch_query(rq, sql_of(is_session), pg_bytes(hash, SHA256_LEN));
	if (pg_empty(rows))
		return false;
	*ret_key = read_row(rows, 0);
	return true;
}

/* The text of an array of bytea. */
static const char *array_of(struct request *rq, const uint8_t (*hashes)[SHA256_LEN], size_t count)
{
	struct buf array = {.arena = rq->arena};
	char hex[SHA256_HEX_LEN + 1];
	buf_puts(&array, "{");
	for (size_t i = 0; i < count; i++) {
		hex_encode(hashes[i], SHA256_LEN, hex);
		buf_printf(&array, "%s\"\\\\x%s\"", i ? "," : "", hex);
	}
	buf_puts(&array, "}");
	return array.data;
}

struct cached_key **key_lookup_all(struct request *rq, bool is_session,
                                   const uint8_t (*hashes)[SHA256_LEN], size_t count)
{
	struct cached_key **keys = arena_array(rq->arena, count, sizeof(*keys));
	struct pg_rows *rows =
		pg_query(rq, sql_of(is_session), pg_text(array_of(rq, hashes, count)));
	for (int row = 0; row < rows->count; row++) {
		struct cached_key key = read_row(rows, row);
		keys[pg_get_int(rows, row, "n") - 1] = arena_memdup(rq->arena, &key, sizeof(key));
	}
	return keys;
}
