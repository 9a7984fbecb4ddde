#include "oidc/login.h"

#include "base/timefmt.h"
#include "base/url.h"
#include "client/oauth_code.h"
#include "crypto/crypto.h"
#include "gateway_process.h"
#include "http/query.h"
#include "input/input.h"
#include "json/json.h"
#include "observe/log.h"
#include "observe/metrics.h"
#include "oidc/identity.h"
#include "oidc/login_state.h"
#include "oidc/oidc.h"
#include "oidc/provider.h"
#include "oidc/return_to.h"
#include "reply/problem_page.h"
#include "reply/reply.h"
#include "service/process.h"
#include "session/session.h"
#include "team/invitation_token.h"

#include <string.h>

#define CALLBACK_PATH "/api/v1.0/session/oidc/callback"
#define CONSOLE       "/console/"
#define CODE_MAX      4096
#define COOKIE_AGE    "; Max-Age=600"
#define COOKIE_END    "; Max-Age=0"

struct login_input {
	const char *return_to, *invitation;
	bool is_link;
	const char *state, *code, *issuer, *error;
};

static const struct field START_FIELDS[] = {
	{IN_QUERY, FIELD_TEXT, "return_to", FIELD_AT(struct login_input, return_to, const char *),
         OPTIONAL, 1, RETURN_TO_MAX, .check = return_to_check},
	QUERY_BOOL(struct login_input, is_link, "link", false),
	{IN_QUERY, FIELD_TEXT, "invitation", FIELD_AT(struct login_input, invitation, const char *),
         OPTIONAL, 1, 200, .check = invitation_token_check},
	FIELD_END,
};

/* Providers add parameters of their own, such as session_state. */
static const struct field CALLBACK_FIELDS[] = {
	QUERY_TEXT(struct login_input, state, "state", REQUIRED, 1, 256),
	QUERY_TEXT(struct login_input, code, "code", OPTIONAL, 1, CODE_MAX),
	QUERY_TEXT(struct login_input, issuer, "iss", OPTIONAL, 1, 2048),
	QUERY_TEXT(struct login_input, error, "error", OPTIONAL, 1, 256),
	QUERY_IGNORES_OTHERS,
	FIELD_END,
};

METRIC_COUNTER(logins_total, "expops_oidc_logins_total",
               "Ways back from the provider of log-ins that ended in a session, or in one more way "
               "to log in.");

static const struct cookie_rules *cookies_of(const struct request *rq)
{
	const struct gateway_process *gateway = rq->worker->process->user;
	return &gateway->cookies;
}

static const char *redirect_uri(struct request *rq)
{
	return arena_printf(rq->arena, "%s" CALLBACK_PATH, process_settings.public_url);
}

static void require_configured(struct request *rq)
{
	if (!oidc_is_configured())
		raise_error(rq, ERR_LOGIN_NOT_CONFIGURED, "%s",
		            err_info(ERR_LOGIN_NOT_CONFIGURED)->detail);
}

/* Lead the browser to another address. Neither the address nor the cookies are for a cache. */
static void redirect(struct request *rq, int status, const char *address)
{
	reply_is_secret(rq);
	reply_header(rq, "Location", "%s", address);
	reply_empty(rq, status);
}

/* --- Ways to log in --------------------------------------------------------------------------- */

/* What the button calls the provider: OIDC_NAME, or the host of the issuer. */
static const char *name_of(struct request *rq)
{
	const char *host = oidc_settings.issuer + url_scheme_length(oidc_settings.issuer);
	return oidc_settings.name[0] ? oidc_settings.name
	                             : arena_strndup(rq->arena, host, strcspn(host, "/"));
}

void login_get(struct request *rq)
{
	request_input_none(rq);
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *root = yyjson_mut_obj(doc);
	yyjson_mut_val *methods = yyjson_mut_obj_add_arr(doc, root, "methods");
	if (session_takes_keys())
		yyjson_mut_arr_add_str(doc, methods, "key");
	if (oidc_is_configured())
		yyjson_mut_arr_add_str(doc, methods, "oidc");
	json_add_text(doc, root, "oidc_name", oidc_is_configured() ? name_of(rq) : NULL);
	yyjson_mut_doc_set_root(doc, root);
	reply_doc(rq, 200, doc);
}

/* --- The way to the provider ------------------------------------------------------------------ */

static const char *authorization_url(struct request *rq, const struct oidc_metadata *metadata,
                                     const struct login_state *login, const char *state)
{
	const struct oauth_code_request request = {
		.endpoint = metadata->authorization_endpoint,
		.client_id = oidc_settings.client_id,
		.redirect_uri = redirect_uri(rq),
		.scopes = oidc_settings.scopes,
		.state = state,
		.verifier = login->verifier,
	};
	struct buf url = oauth_code_url(rq->arena, &request);
	form_add(&url, "nonce", login->nonce);
	return url.data;
}

/* Raise unless a page of this origin asks, on which the person chose to accept the invitation: any
 * other page could lead them here, and into an account that they do not want to be in. */
static void require_own_page(struct request *rq)
{
	enum err_code code = cookie_permit(cookies_of(rq), &rq->http->head, rq->http->op);
	if (code)
		raise_error(rq, code, "%s", err_info(code)->detail);
}

void login_start(struct request *rq)
{
	problem_page_allow(rq, CONSOLE);
	struct login_input *in = request_input(rq, struct login_input, START_FIELDS);
	require_configured(rq);
	if (in->is_link && in->invitation)
		raise_field(rq, "invitation", "is accepted by a log-in, and not with link");
	if (in->invitation)
		require_own_page(rq);
	struct login_state login = {
		.session = in->is_link ? identity_adder(rq) : NULL,
		.invitation = in->invitation,
		.return_to = in->return_to ? in->return_to : CONSOLE,
	};
	session_attempt_take(rq);
	struct oidc_metadata metadata = provider_metadata(rq);
	const char *state = login_state_new(rq, &login);
	const struct cookie_rules *rules = cookies_of(rq);
	reply_header(rq, "Set-Cookie", "%s=%s%s" COOKIE_AGE, rules->login_name, login.cookie,
	             rules->login_attributes);
	redirect(rq, 302, authorization_url(rq, &metadata, &login, state));
}

/* --- The way back ----------------------------------------------------------------------------- */

/* Whether the browser is the one that began the log-in, so that nobody can lead another one into a
 * session of theirs. */
static void require_same_browser(struct request *rq, const struct login_state *login)
{
	const char *cookie = cookie_value(rq->arena, &rq->http->head, cookies_of(rq)->login_name);
	size_t length = strlen(login->cookie);
	if (!cookie || strlen(cookie) != length ||
	    !equal_constant_time(cookie, login->cookie, length))
		raise_error(rq, ERR_FORBIDDEN,
		            "this browser has not begun this log-in; begin again");
}

/* Whether the answer is the provider's and no other's (RFC 9207 section 2.4). */
static void require_issuer(struct request *rq, const struct login_input *in,
                           const struct oidc_metadata *metadata)
{
	bool is_right = in->issuer ? strcmp(in->issuer, oidc_settings.issuer) == 0
	                           : !metadata->names_issuer;
	if (!is_right)
		raise_field(rq, "iss", "is not the provider of the log-in");
}

/* The code of the answer. An error is a word of the provider (RFC 6749 section 4.1.2.1). */
static const char *require_code(struct request *rq, const struct login_input *in)
{
	static const char WORD[] = "abcdefghijklmnopqrstuvwxyz_";
	if (in->error) {
		size_t length = strspn(in->error, WORD);
		bool is_word = length > 0 && !in->error[length];
		log_info("log-in refused", f_text("reason", is_word ? in->error : "unknown"));
		raise_error(rq, ERR_FORBIDDEN, "the provider refuses the log-in: %s",
		            is_word ? in->error : "it gives no reason");
	}
	if (!in->code)
		raise_field(rq, "code", "is missing");
	return in->code;
}

/* Raise what is wrong with the ID token, which only the provider's operator can mend. */
static void require_good_token(struct request *rq, const char *fault)
{
	if (!fault)
		return;
	log_warn("ID token refused", f_text("reason", fault));
	raise_error(rq, ERR_UPSTREAM, "the ID token of the provider %s", fault);
}

/* Who has logged in. */
static struct id_claims ask_claims(struct request *rq, const struct oidc_metadata *metadata,
                                   const struct login_state *login, const char *code)
{
	struct provider_tokens tokens =
		provider_exchange(rq, metadata, code, redirect_uri(rq), login->verifier);
	struct id_token token;
	require_good_token(rq, id_token_read(rq->arena, tokens.id_token, &token));
	if (!provider_has_signed(rq, metadata, &token))
		require_good_token(rq, "is not signed by a key of the provider");
	const struct id_token_rules rules = {
		.issuer = oidc_settings.issuer,
		.client_id = oidc_settings.client_id,
		.nonce = login->nonce,
		.now_s = time_now_ms() / 1000,
	};
	require_good_token(rq, id_token_check(&token, &rules));
	struct id_claims claims = id_claims_read(token.claims);
	bool is_complete = claims.email || (!login->invitation && identity_is_known(rq, &claims));
	if (is_complete)
		return claims;
	/* The answer is of the person of the token only if it has the same subject (OpenID Connect
	 * Core 1.0 section 5.3.2). */
	struct id_claims more =
		id_claims_read(provider_userinfo(rq, metadata, tokens.access_token));
	return more.subject && strcmp(more.subject, claims.subject) == 0 ? more : claims;
}

/* Both cookies change: the browser has a session, and no log-in under way. */
static void set_session(struct request *rq, const char *token)
{
	const struct cookie_rules *rules = cookies_of(rq);
	session_set_cookie(rq, token, "");
	reply_header(rq, "Set-Cookie", "%s=%s" COOKIE_END, rules->login_name,
	             rules->login_attributes);
}

void login_callback(struct request *rq)
{
	problem_page_allow(rq, CONSOLE);
	struct login_input *in = request_input(rq, struct login_input, CALLBACK_FIELDS);
	require_configured(rq);
	struct uuid attempt = session_attempt_take(rq);
	struct oidc_metadata metadata = provider_metadata(rq);
	struct login_state login = login_state_take(rq, in->state);
	require_same_browser(rq, &login);
	require_issuer(rq, in, &metadata);
	struct id_claims claims = ask_claims(rq, &metadata, &login, require_code(rq, in));
	if (login.session)
		identity_link(rq, &claims, login.session);
	else
		set_session(rq, identity_log_in(rq, &claims, login.invitation));
	session_attempt_return(rq, &attempt);
	metric_add(&logins_total, NULL, NULL, 1);
	redirect(rq, 303, login.return_to);
}
