#include "provider/provider.h"

#include "base/base.h"
#include "base/url.h"
#include "service/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *redirect_uris;
static const char *code_host_web, *code_host_api;
static struct oauth_settings code_host, tracker_a, tracker_b;
static struct tracker_settings tracker_a_api = {.variable = "TRACKER_A_API"};
static struct tracker_settings tracker_b_api = {.variable = "TRACKER_B_API"};
static int64_t oauth_timeout;
static const char *anthropic, *openai, *google, *moonshot, *zai;

/* The settings of an OAuth provider: variables PREFIX_AUTHORIZE_URL and so on, with their
 * defaults. */
#define OAUTH_SETTINGS(to, prefix, authorize, token, user, query, revoke, scopes_)                 \
	SETTING_TEXT(&(to).authorize_url, prefix "_AUTHORIZE_URL", authorize,                      \
	             "Address at which a user of " prefix " consents."),                           \
		SETTING_TEXT(&(to).token_url, prefix "_TOKEN_URL", token,                          \
	                     "Address at which codes and refresh tokens become tokens."),          \
		SETTING_TEXT(&(to).user_url, prefix "_USER_URL", user,                             \
	                     "Address that says whose a token is."),                               \
		SETTING_TEXT(&(to).user_query, prefix "_USER_QUERY", query,                        \
	                     "GraphQL query to send to the user address; empty: the address is "   \
	                     "read with GET."),                                                    \
		SETTING_TEXT(&(to).revoke_url, prefix "_REVOKE_URL", revoke,                       \
	                     "Address at which a token is revoked (RFC 7009); empty: tokens are "  \
	                     "only forgotten."),                                                   \
		SETTING_TEXT(&(to).client_id, prefix "_CLIENT_ID", "",                             \
	                     "Client id at the provider; empty: the provider is not configured."), \
		SETTING_SECRET(&(to).client_secret, prefix "_CLIENT_SECRET", "",                   \
	                       "Client secret at the provider."),                                  \
		SETTING_TEXT(&(to).scopes, prefix "_SCOPES", scopes_,                              \
	                     "Scopes to ask for, as the provider writes them.")

/* The settings of a tracker's API. */
#define TRACKER_SETTINGS(to, prefix, api_, url)                      \
	SETTING_TEXT(&(to).api, prefix "_API", api_,                 \
	             "API by which tickets of " prefix               \
	             " are read: linear, jira, or empty for none."), \
		SETTING_TEXT(&(to).api_url, prefix "_API_URL", url, "Address of this API.")

const struct setting PROVIDER_SETTINGS[] = {
	SETTING_TEXT(
		&redirect_uris, "OAUTH_REDIRECT_URIS", "",
		"Addresses to which providers may send users back, separated by spaces; the first "
		"one is the default. Empty: the console's page below PUBLIC_URL."),
	SETTING_MS(&oauth_timeout, "OAUTH_TIMEOUT", "10s", 100, 60000,
                   "How long one call of a provider's OAuth may take."),
	SETTING_TEXT(&code_host_web, "CODE_HOST_WEB_URL", "https://github.com",
                     "Address of the code host's web pages."),
	SETTING_TEXT(&code_host_api, "CODE_HOST_API_URL", "https://api.github.com",
                     "Address of the code host's REST API."),
	SETTING_TEXT(
		&code_host.client_id, "CODE_HOST_CLIENT_ID", "",
		"Client id of the app at the code host; empty: connections are not configured."),
	SETTING_SECRET(&code_host.client_secret, "CODE_HOST_CLIENT_SECRET", "",
                       "Client secret of the app at the code host."),
	SETTING_TEXT(&code_host.scopes, "CODE_HOST_SCOPES", "repo read:user user:email",
                     "Scopes to ask for; an app's permissions apply in their place."),
	OAUTH_SETTINGS(tracker_a, "TRACKER_A", "https://linear.app/oauth/authorize",
                       "https://api.linear.app/oauth/token", "https://api.linear.app/graphql",
                       "{ viewer { id name email } }", "https://api.linear.app/oauth/revoke",
                       "read,write"),
	OAUTH_SETTINGS(
		tracker_b, "TRACKER_B",
		"https://auth.atlassian.com/authorize?audience=api.atlassian.com&prompt=consent",
		"https://auth.atlassian.com/oauth/token", "https://api.atlassian.com/me", "", "",
		"read:me read:jira-work write:jira-work offline_access"),
	TRACKER_SETTINGS(tracker_a_api, "TRACKER_A", "linear", "https://api.linear.app/graphql"),
	TRACKER_SETTINGS(tracker_b_api, "TRACKER_B", "jira", "https://api.atlassian.com"),
	SETTING_TEXT(&anthropic, "ANTHROPIC_URL", "https://api.anthropic.com",
                     "Address of the model provider anthropic."),
	SETTING_TEXT(&openai, "OPENAI_URL", "https://api.openai.com",
                     "Address of the model provider openai."),
	SETTING_TEXT(&google, "GOOGLE_URL", "https://generativelanguage.googleapis.com",
                     "Address of the model provider google."),
	SETTING_TEXT(&moonshot, "MOONSHOT_URL", "https://api.moonshot.ai",
                     "Address of the model provider moonshot."),
	SETTING_TEXT(&zai, "ZAI_URL", "https://api.z.ai", "Address of the model provider zai."),
	SETTING_END,
};

const struct provider PROVIDERS[] = {
	{"code_host", PROVIDER_CODE_HOST, &code_host, NULL},
	{"tracker_a", PROVIDER_TRACKER, &tracker_a, NULL, &tracker_a_api},
	{"tracker_b", PROVIDER_TRACKER, &tracker_b, NULL, &tracker_b_api},
	{"anthropic", PROVIDER_MODEL, NULL, &anthropic},
	{"openai", PROVIDER_MODEL, NULL, &openai},
	{"google", PROVIDER_MODEL, NULL, &google},
	{"moonshot", PROVIDER_MODEL, NULL, &moonshot},
	{"zai", PROVIDER_MODEL, NULL, &zai},
	{"custom", PROVIDER_MODEL, NULL, NULL},
	{0},
};

static const char *join_url(const char *base, const char *path)
{
	char *url;
	require(asprintf(&url, "%s%s", base, path) > 0);
	return url; /* for the life of the process */
}

/* An address in canonical form, without slashes at its end; for the life of the process. */
static const char *trim_url(const char *url)
{
	size_t length = strlen(url);
	while (length > 0 && url[length - 1] == '/')
		length--;
	struct arena *arena = arena_new();
	char *trimmed = strndup(url_canonical(arena, url), length);
	require(trimmed);
	arena_free(arena);
	return trimmed;
}

static bool url_check(const char *variable, const char *text, size_t length)
{
	const char *why;
	if (url_is_link(text, length, &why) && !memchr(text, '#', length))
		return true;
	fprintf(stderr, "%s: \"%.*s\" is not an absolute http or https URL without fragment\n",
	        variable, (int)length, text);
	return false;
}

/* Check the settings whose names end with _URL, and each address of OAUTH_REDIRECT_URIS. */
static bool urls_check(void)
{
	bool is_valid = true;
	for (const struct setting *row = PROVIDER_SETTINGS; row->type != SET_END; row++) {
		size_t length = strlen(row->name);
		const char *value = row->type == SET_TEXT ? *(const char **)row->target : "";
		if (strcmp(row->name + length - 4, "_URL") == 0 && value[0])
			is_valid &= url_check(row->name, value, strlen(value));
	}
	for (const char *at = redirect_uris + strspn(redirect_uris, " "); *at;) {
		size_t length = strcspn(at, " ");
		is_valid &= url_check("OAUTH_REDIRECT_URIS", at, length);
		at += length + strspn(at + length, " ");
	}
	return is_valid;
}

/* Every provider leads to the same page of the console. */
static const char *landing_url(void)
{
	const char *site = process_settings.public_url;
	return site[0] ? join_url(site, "/console/connect/oauth") : "";
}

enum err_code providers_init(void)
{
	if (!redirect_uris[0])
		redirect_uris = landing_url();
	if (!urls_check())
		return ERR_INVALID;
	if (code_host.client_secret[0] && !code_host.client_id[0]) {
		fprintf(stderr,
		        "CODE_HOST_CLIENT_ID: must be set too: with CODE_HOST_CLIENT_SECRET "
		        "it names the client, in place of a registered one\n");
		return ERR_INVALID;
	}
	code_host_api = trim_url(code_host_api);
	code_host_web = trim_url(code_host_web);
	code_host.authorize_url = join_url(code_host_web, "/login/oauth/authorize");
	code_host.token_url = join_url(code_host_web, "/login/oauth/access_token");
	code_host.user_url = join_url(code_host_api, "/user");
	code_host.user_query = code_host.revoke_url = "";
	return ERR_NONE;
}

int64_t oauth_timeout_ms(void)
{
	return oauth_timeout;
}

const char *code_host_api_url(void)
{
	return code_host_api;
}

const char *code_host_web_url(void)
{
	return code_host_web;
}

bool provider_code_host_client_is_set(void)
{
	return code_host.client_id[0];
}

static bool is_oauth_configured(const struct oauth_settings *oauth)
{
	return oauth->client_id[0] && oauth->authorize_url[0] && oauth->token_url[0] &&
	       oauth->user_url[0] && redirect_uris[0];
}

bool provider_is_configured(const struct provider *provider)
{
	return provider->oauth ? is_oauth_configured(provider->oauth) : true;
}

const struct provider *provider_get(struct request *rq, const char *name)
{
	for (const struct provider *provider = PROVIDERS; provider->name; provider++)
		if (strcmp(provider->name, name) == 0)
			return provider;
	raise_error(rq, ERR_NOT_FOUND, "no such provider");
}

const char *provider_kind_name(enum provider_kind kind)
{
	static const char *const NAMES[] = {
		[PROVIDER_CODE_HOST] = "code_host",
		[PROVIDER_TRACKER] = "tracker",
		[PROVIDER_MODEL] = "model",
	};
	return NAMES[kind];
}

const char *provider_redirect_uri(struct request *rq, const char *given)
{
	for (const char *at = redirect_uris; *at;) {
		size_t length = strcspn(at, " ");
		if (length > 0 &&
		    (!given || (strlen(given) == length && memcmp(at, given, length) == 0)))
			return arena_strndup(rq->arena, at, length);
		at += length + strspn(at + length, " ");
	}
	if (given)
		raise_field(rq, "redirect_uri", "is not one of the configured addresses");
	raise_error(rq, ERR_NOT_CONFIGURED, "no redirect address is configured");
}
