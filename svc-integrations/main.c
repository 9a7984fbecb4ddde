/* svc-integrations: connections to outside services, identities, and the code host. */
#include "connection/authorization.h"
#include "connection/connection.h"
#include "connection/model_key.h"
#include "connection/reseal.h"
#include "connection/revocation.h"
#include "connection/token.h"
#include "identity/identity_link.h"
#include "provider/provider.h"
#include "service/service.h"
#include "svc-integrations-migrations.h"
#include "vault/vault.h"

static const struct route ROUTES[] = {
	{API_ID_providers_list, provider_list},
	{API_ID_connections_list, connection_list},
	{API_ID_connection_status_get, connection_status_get},
	{API_ID_connection_delete, connection_delete},
	{API_ID_connection_token_get, connection_token_get},
	{API_ID_auth_url_get, authorization_url_get},
	{API_ID_connection_create, authorization_callback},
	{API_ID_model_key_connect, model_key_connect},
	{API_ID_identity_link_create, identity_link_create},
	{API_ID_identity_links_list, identity_link_list},
	{API_ID_identity_resolve, identity_resolve},
	{0},
};

static const struct job JOBS[] = {
	{"revoke", revocation_run},
	{0},
};

static const int64_t HOUR_MS = 3600000;

static const struct recurring RECURRING[] = {
	{"revocations", revocations_forget, &HOUR_MS},
	{0},
};

static const struct command COMMANDS[] = {
	{"reseal", "reseal", "Seal all stored tokens and keys with the first of SEAL_KEYS.",
         reseal_command},
	{0},
};

static enum err_code settings_check(void)
{
	enum err_code code = vault_init();
	return code ? code : providers_init();
}

static const struct service SERVICE = {
	.name = "svc-integrations",
	.schema = "integrations",
	.api = API_INTEGRATIONS,
	.routes = ROUTES,
	.jobs = JOBS,
	.recurring = RECURRING,
	.commands = COMMANDS,
	.keeps_accounts = true,
	.migrations = MIGRATIONS,
	.settings = (const struct setting *const[]){VAULT_SETTINGS, PROVIDER_SETTINGS, NULL},
	.settings_check = settings_check,
};

int main(int argc, char **argv)
{
	return service_main(&SERVICE, argc, argv);
}
