#include "oidc/identity.h"

#include "audit/audit.h"
#include "crypto/scope.h"
#include "identity.sql.h"
#include "json/json.h"
#include "key/key_change.h"
#include "key/key_text.h"
#include "key/preset.h"
#include "key/role.h"
#include "observe/log.h"
#include "oidc/oidc.h"
#include "pg/pg.h"
#include "session/session.h"

#include <string.h>

/* What an outcome of identity_enter() raises. */
static const struct refusal {
	const char *outcome, *detail;
} REFUSALS[] = {
	{"unverified", "your provider does not say that your address is yours; ask for an "
                       "invitation, or log in with a key"},
	{"operator", "an operator adds this way to log in by the settings, logged in with a key"},
	{"taken", "the person of your address adds this way to log in by the settings, logged in "
                  "as before"},
	{"uninvited", "nobody has invited you; open the link of your invitation, or ask for an "
                      "invitation"},
	{"disabled", "you may not log in"},
	{"no_account", "you are a member of no account; open the link of your invitation, or ask "
                       "for an invitation"},
	{0},
};

/* Note in the accounts of the person that the log-in was refused; NULL: nobody is known. */
static void note_refused(struct request *rq, const char *person, const char *reason)
{
	pg_rollback(rq);
	audit_begin(rq);
	pg_query(rq, IDENTITY_REFUSED_SQL, pg_text(person), pg_text(reason));
	pg_commit(rq);
}

static void require_outcome(struct request *rq, const char *outcome, const char *person)
{
	for (const struct refusal *refusal = REFUSALS; refusal->outcome; refusal++)
		if (strcmp(refusal->outcome, outcome) == 0) {
			note_refused(rq, person, outcome);
			log_info("log-in refused", f_text("reason", outcome));
			raise_error(rq, ERR_FORBIDDEN, "%s", refusal->detail);
		}
}

/* The address, if it is known to be the person's. */
static const char *verified_email(const struct id_claims *claims)
{
	return claims->is_email_verified || oidc_settings.trusts_email ? claims->email : NULL;
}

bool identity_is_known(struct request *rq, const struct id_claims *claims)
{
	return !pg_empty(pg_query(rq, IDENTITY_KNOWN_SQL, pg_text(oidc_settings.issuer),
	                          pg_text(claims->subject)));
}

/* The person of the identity. */
static const char *find_person(struct request *rq, const struct id_claims *claims,
                               const char *invitation)
{
	const char *email = verified_email(claims);
	const char *role = strchr(oidc_settings.join, ':');
	struct pg_param account = pg_null();
	if (role)
		account = pg_text(arena_strndup(rq->arena, oidc_settings.join,
		                                (size_t)(role - oidc_settings.join)));
	struct pg_rows *rows =
		pg_query(rq, IDENTITY_LOG_IN_SQL, pg_text(oidc_settings.issuer),
	                 pg_text(claims->subject), pg_text(email), pg_text(claims->name),
	                 pg_bool(email && oidc_allows_domain(email)), account,
	                 pg_text(role ? role + 1 : NULL),
	                 invitation ? pg_sha256(invitation) : pg_null());
	const char *person = pg_get(rows, 0, "person");
	require_outcome(rq, pg_get(rows, 0, "outcome"), person);
	return person;
}

static struct pg_param scopes_param(struct request *rq, uint64_t scopes)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	return pg_text(json_write_mut(rq->arena, scope_names(doc, scopes), NULL));
}

const char *identity_log_in(struct request *rq, const struct id_claims *claims,
                            const char *invitation)
{
	const char *token = session_text_new(request_secrets_arena(rq));
	struct audit_client client = audit_client_of(rq);
	audit_begin(rq);
	const char *person = find_person(rq, claims, invitation);
	struct pg_rows *rows =
		pg_query(rq, IDENTITY_SESSION_SQL, pg_text(person), pg_text(oidc_settings.issuer),
	                 pg_sha256(token), scopes_param(rq, preset_scopes("full_access")),
	                 scopes_param(rq, SCOPE_OPERATOR), client.address, client.user_agent);
	const char *session = pg_value(rows, 0);
	if (!session)
		require_outcome(rq, "no_account", person);
	key_change_commit(rq); /* the oldest session may have ended */
	log_info("person logged in", f_text("person_id", person), f_text("session_id", session));
	return token;
}

void identity_link(struct request *rq, const struct id_claims *claims, const char *session)
{
	audit_begin(rq);
	struct pg_rows *rows = pg_query(rq, IDENTITY_LINK_SQL, pg_text(oidc_settings.issuer),
	                                pg_text(claims->subject), pg_text(session),
	                                pg_text(verified_email(claims)));
	if (pg_empty(rows))
		raise_error(rq, ERR_UNAUTHENTICATED, "the session has ended");
	if (!pg_get_bool(rows, 0, "is_theirs"))
		raise_error(rq, ERR_CONFLICT,
		            "this log-in is another person's, or you have another one already");
	pg_commit(rq);
	log_info("log-in added to a person", f_text("person_id", pg_get(rows, 0, "person")));
}

/* What a person may do after a log-in, wherever they have the highest of their roles. */
static uint64_t scopes_of_log_in(const char *role, bool is_operator)
{
	uint64_t scopes = preset_scopes("full_access") | SCOPE_OPERATOR;
	return role ? scopes & role_scopes(role, is_operator) : SCOPE_NONE;
}

const char *identity_adder(struct request *rq)
{
	struct pg_rows *rows = pg_query(rq, IDENTITY_ADDER_SQL, session_require(rq));
	if (pg_empty(rows))
		raise_error(rq, ERR_UNAUTHENTICATED, "the session has ended");
	if (!pg_get(rows, 0, "person"))
		raise_error(rq, ERR_FORBIDDEN, "the session's key belongs to no person");
	yyjson_val *names = json_parse_own(rq->arena, pg_get(rows, 0, "scopes")), *name;
	uint64_t lacking =
		scopes_of_log_in(pg_get(rows, 0, "role"), pg_get_bool(rows, 0, "is_operator"));
	size_t index, count;
	yyjson_arr_foreach (names, index, count, name)
		lacking &= ~scope_mask(yyjson_get_str(name));
	if (lacking) {
		rq->problem.scope = scope_info((enum scope_bit)__builtin_ctzll(lacking))->name;
		raise_error(rq, ERR_SCOPE,
		            "who logs in so may do all that you may; this session's key lacks "
		            "the scope %s",
		            rq->problem.scope);
	}
	return pg_get(rows, 0, "session");
}
