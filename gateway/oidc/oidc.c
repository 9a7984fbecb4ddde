#include "oidc/oidc.h"

#include "base/base.h"
#include "base/url.h"
#include "crypto/uuid.h"
#include "key/role.h"
#include "service/process.h"
#include "session/session.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define SEPARATORS ", "

struct oidc_settings oidc_settings;

const struct setting OIDC_SETTINGS[] = {
	SETTING_TEXT(&oidc_settings.issuer, "OIDC_ISSUER", "",
                     "Issuer of the OpenID provider at which people log in, such as "
                     "https://accounts.google.com; empty: none. Needs PUBLIC_URL."),
	SETTING_TEXT(&oidc_settings.client_id, "OIDC_CLIENT_ID", "",
                     "Client that the provider knows this system as."),
	SETTING_SECRET(&oidc_settings.client_secret, "OIDC_CLIENT_SECRET", "",
                       "Secret of OIDC_CLIENT_ID."),
	SETTING_TEXT(&oidc_settings.name, "OIDC_NAME", "",
                     "What the button of the log-in calls the provider; empty: its host."),
	SETTING_TEXT(&oidc_settings.scopes, "OIDC_SCOPES", "openid email profile",
                     "Scopes that the provider is asked for, separated by spaces."),
	SETTING_TEXT(&oidc_settings.domains, "OIDC_DOMAINS", "",
                     "Domains of email addresses of which new persons may be, separated by commas; "
                     "empty: all."),
	SETTING_TEXT(&oidc_settings.join, "OIDC_JOIN", "",
                     "Account that new persons become members of, and their role: "
                     "ACCOUNT_ID:member; empty: they need an invitation."),
	SETTING_BOOL(&oidc_settings.trusts_email, "OIDC_TRUST_EMAIL", "false",
                     "Take addresses for verified, of a provider that does not say so: a directory "
                     "whose users cannot choose their address."),
	SETTING_MS(&oidc_settings.timeout_ms, "OIDC_TIMEOUT", "10s", 100, 60000,
                   "How long a call of the provider may take."),
	SETTING_END,
};

bool oidc_is_configured(void)
{
	return oidc_settings.issuer[0] != '\0';
}

/* --- URLs ------------------------------------------------------------------------------------- */

/* `http://127.0.0.1:8080/a`; a name such as 127.0.0.1.example.org is none. */
static bool is_on_loopback(const char *url)
{
	const char *authority = url + url_scheme_length(url);
	size_t length = url_loopback_length(authority);
	return length > 0 && strchr(":/?#", authority[length]);
}

bool oidc_url_is_safe(const char *url)
{
	static const char HTTPS[] = "https://";
	const char *message;
	if (!url_is_link(url, strlen(url), &message))
		return false;
	return strncasecmp(url, HTTPS, sizeof(HTTPS) - 1) == 0 || is_on_loopback(url);
}

/* --- Lists ------------------------------------------------------------------------------------ */

/* The next of OIDC_DOMAINS at *at, whose end *at becomes; its length, 0: there is none. */
static size_t next_domain(const char **at, const char **ret_domain)
{
	*ret_domain = *at + strspn(*at, SEPARATORS);
	size_t length = strcspn(*ret_domain, SEPARATORS);
	*at = *ret_domain + length;
	return length;
}

bool oidc_allows_domain(const char *email)
{
	const char *at = oidc_settings.domains, *domain, *host = strrchr(email, '@');
	if (!at[strspn(at, SEPARATORS)])
		return true;
	for (size_t length; host && (length = next_domain(&at, &domain)) > 0;)
		if (strlen(host + 1) == length && strncasecmp(host + 1, domain, length) == 0)
			return true;
	return false;
}

/* --- Checks of settings ----------------------------------------------------------------------- */

static bool is_issuer(const char *text)
{
	return oidc_url_is_safe(text) && !strpbrk(text, "?#");
}

static bool is_given(const char *text)
{
	return text[0] != '\0';
}

static bool asks_openid(const char *text)
{
	static const char OPENID[] = "openid";
	for (; *text; text += strspn(text, " ")) {
		size_t length = strcspn(text, " ");
		if (length == sizeof(OPENID) - 1 && strncmp(text, OPENID, length) == 0)
			return true;
		text += length;
	}
	return false;
}

static bool is_domain_list(const char *text)
{
	return !strpbrk(text, "@/:*");
}

static bool is_join_or_empty(const char *text)
{
	struct uuid account;
	size_t length = strcspn(text, ":");
	return !*text || (uuid_parse(text, length, &account) && text[length] == ':' &&
	                  role_scopes(text + length + 1, false) != SCOPE_NONE);
}

/* What the others must be when OIDC_ISSUER is given. */
static const struct {
	const char *const *value;
	const char *name;
	bool (*is_valid)(const char *text);
	const char *expected;
} CHECKS[] = {
	{&oidc_settings.issuer, "OIDC_ISSUER", is_issuer,
         "an https URL without query and fragment, or an http one of a loopback host"},
	{&oidc_settings.client_id, "OIDC_CLIENT_ID", is_given, "given with OIDC_ISSUER"},
	{&oidc_settings.client_secret, "OIDC_CLIENT_SECRET", is_given, "given with OIDC_ISSUER"},
	{&oidc_settings.scopes, "OIDC_SCOPES", asks_openid, "a list of scopes with openid"},
	{&oidc_settings.domains, "OIDC_DOMAINS", is_domain_list, "a list of domains"},
	{&oidc_settings.join, "OIDC_JOIN", is_join_or_empty, "ACCOUNT_ID:ROLE"},
	{&process_settings.public_url, "PUBLIC_URL", oidc_url_is_safe,
         "an https URL, or an http one of a loopback host, with OIDC_ISSUER"},
};

enum err_code oidc_settings_check(void)
{
	enum err_code code = ERR_NONE;
	if (!oidc_is_configured() && !session_takes_keys()) {
		fprintf(stderr, "SESSION_KEY_LOGIN: false needs OIDC_ISSUER\n");
		return ERR_INVALID;
	}
	for (size_t i = 0; oidc_is_configured() && i < ARRAY_LEN(CHECKS); i++)
		if (!CHECKS[i].is_valid(*CHECKS[i].value)) {
			fprintf(stderr, "%s: must be %s\n", CHECKS[i].name, CHECKS[i].expected);
			code = ERR_INVALID;
		}
	return code;
}
