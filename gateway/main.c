/* The gateway's own operations and commands; every other request is passed to its service. */
#include "account/account.h"
#include "account/by_id.h"
#include "audit/audit.h"
#include "audit/log.h"
#include "console/console.h"
#include "gateway-schema.h"
#include "input/input.h"
#include "key/expiry.h"
#include "key/key.h"
#include "key/key_check.h"
#include "key/key_lookup.h"
#include "main/service_main.h"
#include "mcp/mcp.h"
#include "mcp/tool.h"
#include "oidc/login.h"
#include "oidc/oidc.h"
#include "openapi.h"
#include "operator/archiving.h"
#include "operator/operator.h"
#include "probe/probe.h"
#include "provisioned/provisioned_key.h"
#include "proxy/edge.h"
#include "reply/etag.h"
#include "reply/reply.h"
#include "retention/retention.h"
#include "session/session.h"
#include "team/accounts.h"
#include "team/command.h"
#include "team/invitation.h"
#include "team/invitation_mail.h"
#include "team/people.h"
#include "team/team.h"
#include "usage/key_usage.h"

static const char *openapi_etag;

/* GET /openapi.json: the description of the whole API. */
static void openapi_get(struct request *rq)
{
	request_input_none(rq);
	reply_header(rq, "ETag", "%s", openapi_etag);
	reply_header(rq, "Cache-Control", "public, max-age=300");
	reply_json_length(rq, 200, OPENAPI_JSON, sizeof(OPENAPI_JSON) - 1);
}

static const struct route ROUTES[] = {
	{API_ID_api_keys_list, key_list},
	{API_ID_api_key_create, key_create},
	{API_ID_api_key_update, key_update},
	{API_ID_api_key_delete, key_delete},
	{API_ID_api_key_revoke, key_revoke},
	{API_ID_api_key_usage_list, key_usage_list},
	{API_ID_audit_list, audit_list},
	{API_ID_account_delete, account_delete},
	{API_ID_accounts_list, accounts_list},
	{API_ID_account_create, account_create},
	{API_ID_openapi_get, openapi_get},
	{API_ID_mcp_post, mcp_post},
	{API_ID_oauth_server_get, oauth_metadata_get},
	{API_ID_oauth_resource_get, oauth_metadata_get},
	{API_ID_oauth_resource_mcp_get, oauth_metadata_get},
	{API_ID_session_create, session_create},
	{API_ID_session_get, session_get},
	{API_ID_session_delete, session_delete},
	{API_ID_session_login_get, login_get},
	{API_ID_session_oidc_callback, login_callback},
	{API_ID_session_oidc_start, login_start},
	{API_ID_session_switch, session_show},
	{API_ID_sessions_list, session_list},
	{API_ID_session_end, session_end},
	{API_ID_tasks_list, tasks_list},
	{API_ID_tasks_retry, tasks_retry},
	{API_ID_tasks_summary_get, tasks_summary_get},
	{API_ID_team_get, team_get},
	{API_ID_team_update, team_update},
	{API_ID_member_update, member_update},
	{API_ID_member_delete, member_delete},
	{API_ID_people_list, people_list},
	{API_ID_invitation_create, invitation_create},
	{API_ID_invitation_delete, invitation_delete},
	{API_ID_invitation_accept, invitation_accept},
	{API_ID_version_get, version_get},
	{API_ID_healthz_get, probe_healthz},
	{API_ID_readyz_get, probe_readyz},
	{0},
};

static const struct internal_route INTERNAL_ROUTES[] = {
	{INTERNAL_ID_provisioned_key_create, provisioned_key_create},
	{INTERNAL_ID_provisioned_key_check, provisioned_key_check},
	{INTERNAL_ID_provisioned_key_get, provisioned_key_get},
	{INTERNAL_ID_provisioned_key_revoke, provisioned_key_revoke},
	{INTERNAL_ID_people_find, people_find},
	{INTERNAL_ID_invitation_mail_get, invitation_mail_get},
	{0},
};

static const struct event_handler EVENTS[] = {
	{"events.audit.account", "audit", audit_event},
	{"events.audit.evalenv", "audit", audit_event},
	{"events.audit.experiments", "audit", audit_event},
	{"events.audit.fleet", "audit", audit_event},
	{"events.audit.integrations", "audit", audit_event},
	{"events.audit.interests", "audit", audit_event},
	{"events.audit.search", "audit", audit_event},
	{"events.code_host", "repository_name", key_repository_renamed},
	{"events.code_host", "invitation.mailed", invitation_mailed},
	{0},
};

static const struct recurring RECURRING[] = {
	{"archiving", archiving_measure, &ARCHIVING_EVERY_MS},
	{"audit_months", audit_months_keep, &AUDIT_MONTHS_EVERY_MS},
	{"key_expiry", keys_expiring_announce, &key_expiry_check_ms},
	{"key_usage", key_usage_forget, &KEY_USAGE_FORGET_EVERY_MS},
	{"retention", retained_tables_keep, &RETAINED_TABLES_EVERY_MS},
	{0},
};

static const struct command COMMANDS[] = {
	{"create-user", "create-user --email ADDRESS [--key-name NAME] [--operator]",
         "Print a new API key of the account; create the account when it does not exist.",
         account_create_command},
	{"create-account", "create-account --name NAME --owner ADDRESS",
         "Make an account of several persons; print a new API key of its owner.",
         account_create_team_command},
	{"add-member", "add-member --account ID --email ADDRESS --role owner|admin|member|viewer",
         "Let a person be a member of an account, or change the role; print a new API key of "
         "theirs.",
         member_add_command},
	{"disable-person", "disable-person --email ADDRESS [--undo]",
         "Refuse the keys and sessions of a person.", person_disable_command},
	{"revoke-keys", "revoke-keys ID...", "Revoke keys of any account.", keys_revoke_command},
	{"delete-accounts", "delete-accounts ID...", "Delete accounts, with all that is theirs.",
         accounts_delete_command},
	{0},
};

static enum err_code settings_check(void)
{
	enum err_code edge = edge_settings_check(), oidc = oidc_settings_check();
	return edge ? edge : oidc;
}

static const struct service SERVICE = {
	.name = "gateway",
	.schema = "account",
	.api = API_GATEWAY,
	.routes = ROUTES,
	.internal_routes = INTERNAL_ROUTES,
	.events = EVENTS,
	.recurring = RECURRING,
	.schema_definition = &SCHEMA,
	.tables = ACCOUNT_TABLES,
	.settings =
		(const struct setting *const[]){EDGE_SETTINGS, KEY_SETTINGS, KEY_LOOKUP_SETTINGS,
                                                KEY_EXPIRY_SETTINGS, KEY_USAGE_SETTINGS,
                                                KEY_RETENTION_SETTINGS, CONSOLE_SETTINGS,
                                                TLS_SETTINGS, SESSION_SETTINGS, OIDC_SETTINGS,
                                                AUDIT_SETTINGS, NULL},
	.tls = &tls_settings,
	.settings_check = settings_check,
	.commands = COMMANDS,
	.process_start = edge_process_start,
	.process_stop = edge_process_stop,
	.worker_start = edge_worker_start,
	.worker_drained = edge_worker_drained,
	.worker_stop = edge_worker_stop,
	.public_handler = &edge_handler,
};

int main(int argc, char **argv)
{
	struct arena *arena = arena_new();
	tools_start(arena);
	openapi_etag = etag_of_content(arena, OPENAPI_JSON, sizeof(OPENAPI_JSON) - 1);
	int status = service_main(&SERVICE, argc, argv);
	arena_free(arena);
	return status;
}
