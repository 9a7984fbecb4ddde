/* svc-integrations: connections to outside services, identities, and the code host. */
#include "app/app.h"
#include "app/app_jwt.h"
#include "app/installation.h"
#include "base/base.h"
#include "connection/authorization.h"
#include "connection/connection.h"
#include "connection/maker.h"
#include "connection/model_key.h"
#include "connection/reseal.h"
#include "connection/revocation.h"
#include "connection/token.h"
#include "identity/identity_link.h"
#include "main/service_main.h"
#include "notify/digest/digest.h"
#include "notify/dispatcher.h"
#include "notify/email/email.h"
#include "notify/endpoint/email_confirmation.h"
#include "notify/endpoint/email_page.h"
#include "notify/endpoint/endpoint.h"
#include "notify/endpoint/event_type.h"
#include "notify/endpoint_test.h"
#include "notify/invitation.h"
#include "notify/message.h"
#include "notify/message_delivery.h"
#include "notify/notify.h"
#include "notify/today.h"
#include "provider/provider.h"
#include "repository/dispatch.h"
#include "repository/facts.h"
#include "repository/file.h"
#include "repository/fork.h"
#include "repository/listing.h"
#include "repository/pull_request.h"
#include "repository/run.h"
#include "repository/secret.h"
#include "retention/tables.h"
#include "setup/app_installed.h"
#include "setup/app_page.h"
#include "setup/app_registration.h"
#include "svc-integrations-schema.h"
#include "tracker/ticket.h"
#include "tracker/tracker.h"
#include "vault/vault.h"
#include "webhook/delivery.h"
#include "webhook/redelivery.h"
#include "webhook/webhook.h"

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
	{API_ID_identity_link_delete, identity_link_delete},
	{API_ID_identity_resolve, identity_resolve},
	{API_ID_app_get, app_get},
	{API_ID_app_delete, app_delete},
	{API_ID_app_create, app_create},
	{API_ID_app_install_url_get, app_install_url_get},
	{API_ID_app_installation_get, app_installation_get},
	{API_ID_app_installation_confirm, app_installation_confirm},
	{API_ID_app_manifest_create, app_manifest_create},
	{API_ID_installation_token_create, app_token_create},
	{API_ID_fork_create, fork_create},
	{API_ID_code_host_webhook, delivery_receive},
	{API_ID_webhooks_list, endpoint_list},
	{API_ID_webhook_create, endpoint_create},
	{API_ID_webhook_event_types_list, event_type_list},
	{API_ID_webhook_get, endpoint_get},
	{API_ID_webhook_update, endpoint_update},
	{API_ID_webhook_delete, endpoint_delete},
	{API_ID_webhook_secret_rotate, endpoint_rotate},
	{API_ID_webhook_test, endpoint_test},
	{API_ID_webhook_deliveries_list, message_delivery_list},
	{API_ID_webhook_delivery_get, message_delivery_get},
	{API_ID_webhook_delivery_replay, message_delivery_replay},
	{API_ID_webhook_recover, message_delivery_recover},
	{API_ID_webhook_confirmation_create, email_confirmation_create},
	{API_ID_email_confirm_page_get, email_confirm_page},
	{API_ID_email_confirm, email_confirm},
	{API_ID_email_unsubscribe_page_get, email_unsubscribe_page},
	{API_ID_email_unsubscribe, email_unsubscribe},
	{0},
};

static const struct internal_route INTERNAL_ROUTES[] = {
	{INTERNAL_ID_code_host_status_get, code_host_status_get},
	{INTERNAL_ID_installation_facts_get, installation_facts_get},
	{INTERNAL_ID_repository_facts_get, repository_facts_get},
	{INTERNAL_ID_repository_access_get, repository_access_get},
	{INTERNAL_ID_repository_names_compare, repository_names_compare},
	{INTERNAL_ID_secret_put, secret_put},
	{INTERNAL_ID_secret_get, secret_get},
	{INTERNAL_ID_file_put, file_put},
	{INTERNAL_ID_file_get, file_get},
	{INTERNAL_ID_pull_request_open, pull_request_open},
	{INTERNAL_ID_pull_request_merge, pull_request_merge},
	{INTERNAL_ID_pull_requests_list, pull_requests_list},
	{INTERNAL_ID_issues_list, issues_list},
	{INTERNAL_ID_workflow_dispatch, workflow_dispatch},
	{INTERNAL_ID_run_latest, run_latest},
	{INTERNAL_ID_runs_list, runs_list},
	{INTERNAL_ID_run_cancel, run_cancel},
	{INTERNAL_ID_ticket_facts_get, ticket_facts_get},
	{INTERNAL_ID_ticket_comment_put, ticket_comment_put},
	{INTERNAL_ID_mail_status_get, mail_status_get},
	{0},
};

static const struct job JOBS[] = {
	{"revoke", revocation_run},
	{"confirm_email", email_confirmation_run},
	{"mail_invitation", invitation_mail_run},
	{0},
};

static const struct event_handler EVENTS[] = {
	{"events.account", "message", message_take},
	{"events.account", "invitation.made", invitation_made},
	{"events.account", "member.removed", maker_gone},
	{"events.account", "member.disabled", maker_gone},
	{"events.experiments", "message", message_take},
	{"events.runs", "message", message_take},
	{"events.eval", "message", message_take},
	{"events.assets", "message", message_take},
	{"events.interests", "message", message_take},
	{"events.code_host", "message", message_take},
	{0},
};

static const int64_t HOUR_MS = 3600000;

static const struct recurring RECURRING[] = {
	{"revocations", revocations_forget, &HOUR_MS},
	{"deliveries", delivery_days_keep, &delivery_days_keep_ms},
	{"redelivery", redelivery_pass, &redelivery_check_ms},
	{"messages", notify_days_keep, &NOTIFY_DAYS_KEEP_EVERY_MS},
	{"digests", digest_pass, &digest_check_ms},
	{"today", today_measure, &TODAY_EVERY_MS},
	{0},
};

static const struct command COMMANDS[] = {
	{"reseal", "reseal", "Seal all stored tokens and keys with the first of SEAL_KEYS.",
         reseal_command},
	{"deliveries",
         "deliveries list [--status applied|ignored] [--repo OWNER/NAME] [--limit N] | "
         "deliveries show|replay ID...",
         "Print deliveries of the code host's webhooks, or apply them once more.",
         delivery_command},
	{"app-page",
         "app-page FILE [--organization NAME] [--replace] | app-page --state STATE --code CODE",
         "Make the app at the code host without the console: write a page with the form, then take "
         "the app.",
         app_page_command},
	{0},
};

static enum err_code settings_check(void)
{
	static enum err_code (*const CHECKS[])(void) = {vault_init,     providers_init,
	                                                trackers_check, app_jwt_init,
	                                                webhook_init,   email_init};
	enum err_code code = ERR_NONE;
	for (size_t i = 0; i < ARRAY_LEN(CHECKS) && !code; i++)
		code = CHECKS[i]();
	return code;
}

static const struct service SERVICE = {
	.name = "svc-integrations",
	.schema = "integrations",
	.api = API_INTEGRATIONS,
	.routes = ROUTES,
	.internal_routes = INTERNAL_ROUTES,
	.jobs = JOBS,
	.events = EVENTS,
	.recurring = RECURRING,
	.commands = COMMANDS,
	.keeps_accounts = true,
	.tables = INTEGRATIONS_TABLES,
	.schema_definition = &SCHEMA,
	.settings =
		(const struct setting *const[]){VAULT_SETTINGS, PROVIDER_SETTINGS, APP_JWT_SETTINGS,
                                                INSTALLATION_SETTINGS, IDENTITY_SETTINGS,
                                                WEBHOOK_SETTINGS, NOTIFY_SETTINGS, DIGEST_SETTINGS,
                                                EMAIL_SETTINGS, NULL},
	.settings_check = settings_check,
	.background_start = dispatcher_start,
	.background_is_for_jobs = true,
	.background_drain = dispatcher_drain,
	.background_stop = dispatcher_stop,
};

int main(int argc, char **argv)
{
	return service_main(&SERVICE, argc, argv);
}
