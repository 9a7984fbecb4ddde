#include "oidc/login_state.h"

#include "crypto/crypto.h"
#include "key/key_text.h"
#include "login_state.sql.h"
#include "pg/pg.h"
#include "request/held_secret.h"

#include <string.h>

#define LIFETIME_S 600

static struct held_secret seal_of(struct request *rq, const char *state)
{
	char hash[SHA256_HEX_LEN + 1];
	sha256_hex(state, strlen(state), hash);
	return (struct held_secret){"login", state, arena_printf(rq->arena, "login %s", hash)};
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static const char *or_null(const char *text)
{
	return text && text[0] ? text : NULL;
}

const char *login_state_new(struct request *rq, struct login_state *login)
{
	struct arena *arena = request_secrets_arena(rq);
	const char *state = session_text_new(arena);
	login->nonce = session_text_new(arena);
	login->verifier = session_text_new(arena);
	login->cookie = session_text_new(arena);
	const char *text =
		arena_printf(arena, "%s %s %s %s %s", login->nonce, login->verifier, login->cookie,
	                     or_empty(login->session), or_empty(login->invitation));
	struct held_secret seal = seal_of(rq, state);
	size_t length = strlen(text);
	uint8_t *sealed = arena_alloc(rq->arena, length + GCM_OVERHEAD);
	held_secret_seal(rq, &seal, text, length, sealed);
	pg_query(rq, LOGIN_STATE_CREATE_SQL, pg_sha256(state),
	         pg_bytes(sealed, length + GCM_OVERHEAD), pg_text(login->return_to),
	         pg_int(LIFETIME_S));
	return state;
}

struct login_state login_state_take(struct request *rq, const char *state)
{
	struct pg_rows *rows = pg_query(rq, LOGIN_STATE_TAKE_SQL, pg_sha256(state));
	char *text = NULL;
	if (!pg_empty(rows) && pg_get_bool(rows, 0, "is_valid")) {
		size_t length;
		struct held_secret seal = seal_of(rq, state);
		const void *sealed = pg_get_bytes(rq->arena, rows, 0, "sealed", &length);
		text = held_secret_open(rq, &seal, sealed, length);
	}
	if (!text)
		raise_field(rq, "state",
		            "belongs to no log-in of the last ten minutes; begin again");
	struct login_state login = {
		.nonce = strsep(&text, " "),
		.verifier = strsep(&text, " "),
		.cookie = strsep(&text, " "),
		.return_to = pg_get(rows, 0, "return_to"),
	};
	login.session = or_null(strsep(&text, " "));
	login.invitation = or_null(text);
	return login;
}
