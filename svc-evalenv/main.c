/* svc-evalenv: environments for evaluations, and what is evaluated in them. */
#include "service/service.h"
#include "svc-evalenv-migrations.h"
#include "template/template.h"
#include "vault/vault.h"

static const struct route ROUTES[] = {
	{API_ID_templates_list, template_list}, {API_ID_template_create, template_create},
	{API_ID_template_get, template_get},    {API_ID_template_update, template_update},
	{API_ID_template_lock, template_lock},  {0},
};

static const struct service SERVICE = {
	.name = "svc-evalenv",
	.schema = "evalenv",
	.api = API_EVALENV,
	.routes = ROUTES,
	.settings = (const struct setting *const[]){VAULT_SETTINGS, NULL},
	.settings_check = vault_init,
	.keeps_accounts = true,
	.migrations = MIGRATIONS,
};

int main(int argc, char **argv)
{
	return service_main(&SERVICE, argc, argv);
}
