#include "connection/oauth_client.h"

#include "registration/registration.h"

static bool is_of_registration(const struct provider *provider)
{
	return provider->kind == PROVIDER_CODE_HOST && !provider_code_host_client_is_set();
}

const struct provider *oauth_client_of(struct request *rq, const struct provider *provider)
{
	struct registration_secrets secrets;
	const struct registration *app =
		is_of_registration(provider) ? registration_open(rq, &secrets) : NULL;
	if (!app)
		return provider;
	struct oauth_settings *oauth = arena_new_of(rq->arena, struct oauth_settings);
	*oauth = *provider->oauth;
	oauth->client_id = app->client_id;
	oauth->client_secret = secrets.client_secret;
	struct provider *copy = arena_new_of(rq->arena, struct provider);
	*copy = *provider;
	copy->oauth = oauth;
	return copy;
}

bool oauth_client_is_configured(struct request *rq, const struct provider *provider)
{
	return provider_is_configured(provider->oauth ? oauth_client_of(rq, provider) : provider);
}

const struct provider *oauth_client_get(struct request *rq, const char *name)
{
	const struct provider *provider = provider_get(rq, name);
	if (!provider->oauth)
		raise_error(rq, ERR_AUTH_TYPE, "%s is connected with an API key", name);
	provider = oauth_client_of(rq, provider);
	if (!provider_is_configured(provider))
		raise_error(rq, ERR_NOT_CONFIGURED, "%s is not configured", name);
	return provider;
}
