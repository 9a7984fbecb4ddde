/** svc-integrations/provider/: the outside services that accounts connect to. Their addresses,
 * credentials and scopes are settings.
 *
 *     provider.c        the table of providers, and their settings
 *     oauth.c           the calls of OAuth 2.0: exchange a code, refresh, revoke, whose token it is
 *     oauth_answer.c    reading what they answer
 *     model_provider.c  trying a model provider's API key
 *     reason.c          a provider's words, made fit to be shown
 *
 * These files know neither tables nor accounts. */
#pragma once

#include "base/config.h"
#include "loop/request.h"

#include <stdbool.h>

enum provider_kind { PROVIDER_CODE_HOST, PROVIDER_TRACKER, PROVIDER_MODEL };

/** Addresses and credentials of an OAuth provider; "" where there is none. */
struct oauth_settings {
	const char *authorize_url, *token_url;
	/* Where the owner of a token is asked for: GET, or a GraphQL POST of `user_query` if that
	 * is not empty. */
	const char *user_url, *user_query;
	const char *revoke_url; /* RFC 7009; "": tokens are only forgotten */
	const char *client_id, *client_secret;
	const char *scopes; /* as the authorization URL carries them */
};

/** How the tickets of a tracker are reached. */
struct tracker_settings {
	const char *variable; /* the setting that `api` comes from */
	const char *api; /* the form of its API (tracker/tracker.h); "": tickets are not read */
	const char *api_url;
};

struct provider {
	const char *name; /* `tracker_a`: as it is in paths and rows */
	enum provider_kind kind;
	const struct oauth_settings *oauth;     /* NULL: connected by an API key */
	const char *const *model_url;           /* PROVIDER_MODEL: base address, a setting */
	const struct tracker_settings *tracker; /* PROVIDER_TRACKER; else NULL */
};

/** The addresses and credentials of all providers, and OAUTH_REDIRECT_URIS. */
extern const struct setting PROVIDER_SETTINGS[];

/** All providers, in the order in which they are listed; the last one has no name. */
extern const struct provider PROVIDERS[];

/** Check all addresses, and fill in the code host's from CODE_HOST_WEB_URL and CODE_HOST_API_URL.
 * Once, after the settings are loaded. ERR_INVALID: printed on standard error. */
enum err_code providers_init(void);

/** The provider `name`. Raises ERR_NOT_FOUND: there is none. */
const struct provider *provider_get(struct request *rq, const char *name);

/** Whether everything that a connection needs is set. The client of the code host may come from
 * elsewhere: connection/oauth_client.h. */
bool provider_is_configured(const struct provider *provider);

/** Whether the settings have the client at the code host. */
bool provider_code_host_client_is_set(void);

/** `code_host`, `tracker`, `model`. */
const char *provider_kind_name(enum provider_kind kind);

/** The redirect address to use: `given` if it is one of OAUTH_REDIRECT_URIS, and the first of these
 * if `given` is NULL. Raises ERR_INVALID, naming redirect_uri: it is not listed;
 * ERR_NOT_CONFIGURED: none is listed. */
const char *provider_redirect_uri(struct request *rq, const char *given);

/** How long one call of a provider's OAuth may take. */
int64_t oauth_timeout_ms(void);

/** Base addresses of the code host's API and of its pages, without a slash at the end. */
const char *code_host_api_url(void);
const char *code_host_web_url(void);
