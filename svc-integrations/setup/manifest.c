#include "setup/manifest.h"

#include "base/base.h"
#include "base/ip.h"
#include "base/url.h"
#include "json/json.h"
#include "provider/provider.h"
#include "service/process.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define DESCRIPTION "Runs research agents on the repositories you choose."

/* GitHub is said to refuse local addresses, also for a webhook that is not active. */
#define UNREACHABLE_HOOK "https://example.com/github/webhooks"

const struct permission MANIFEST_PERMISSIONS[] = {
	{"metadata", "read"},       {"contents", "write"},
	{"pull_requests", "write"}, {"issues", "write"},
	{"actions", "write"},       {"secrets", "write"},
	{"workflows", "write"},     {0},
};

const char *const MANIFEST_EVENTS[] = {
	"pull_request", "issues", "push", "workflow_run", "repository", NULL,
};

/* The host of a URL, without port and brackets. */
static const char *host_of(struct arena *arena, const char *url)
{
	const char *host = url + url_scheme_length(url);
	if (*host == '[')
		return arena_strndup(arena, host + 1, strcspn(host + 1, "]"));
	return arena_strndup(arena, host, strcspn(host, ":/?#"));
}

static bool has_end(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);
	return length >= end_length && strcasecmp(text + length - end_length, end) == 0;
}

bool manifest_url_is_reachable(struct arena *arena, const char *url)
{
	static const char *const LOCAL_ENDS[] = {".localhost", ".local", ".internal", ".lan"};
	const char *host = host_of(arena, url);
	struct ip ip;
	if (ip_parse(host, &ip))
		return ip_is_public(&ip);
	for (size_t i = 0; i < ARRAY_LEN(LOCAL_ENDS); i++)
		if (has_end(host, LOCAL_ENDS[i]))
			return false;
	return strchr(host, '.');
}

static void add_hook(struct request *rq, yyjson_mut_doc *doc, yyjson_mut_val *manifest)
{
	const char *site = process_settings.public_url;
	bool is_reachable = manifest_url_is_reachable(rq->arena, site);
	const char *url = is_reachable
	                          ? arena_printf(rq->arena, "%s/api/v1.0/github/webhooks", site)
	                          : UNREACHABLE_HOOK;
	yyjson_mut_val *hook = yyjson_mut_obj_add_obj(doc, manifest, "hook_attributes");
	yyjson_mut_obj_add_str(doc, hook, "url", url);
	yyjson_mut_obj_add_bool(doc, hook, "active", is_reachable);
}

static void add_landings(struct request *rq, yyjson_mut_doc *doc, yyjson_mut_val *manifest)
{
	const char *console =
		arena_printf(rq->arena, "%s/console/connect", process_settings.public_url);
	yyjson_mut_obj_add_str(doc, manifest, "redirect_url",
	                       arena_printf(rq->arena, "%s/created", console));
	yyjson_mut_arr_add_str(doc, yyjson_mut_obj_add_arr(doc, manifest, "callback_urls"),
	                       arena_printf(rq->arena, "%s/oauth", console));
	yyjson_mut_obj_add_str(doc, manifest, "setup_url",
	                       arena_printf(rq->arena, "%s/installed", console));
	yyjson_mut_obj_add_bool(doc, manifest, "setup_on_update", true);
	/* Else GitHub ignores setup_url, and leads to the callback without our PKCE challenge. */
	yyjson_mut_obj_add_bool(doc, manifest, "request_oauth_on_install", false);
}

static void add_rights(yyjson_mut_doc *doc, yyjson_mut_val *manifest)
{
	yyjson_mut_val *permissions = yyjson_mut_obj_add_obj(doc, manifest, "default_permissions");
	for (const struct permission *each = MANIFEST_PERMISSIONS; each->name; each++)
		yyjson_mut_obj_add_str(doc, permissions, each->name, each->level);
	yyjson_mut_val *events = yyjson_mut_obj_add_arr(doc, manifest, "default_events");
	for (const char *const *event = MANIFEST_EVENTS; *event; event++)
		yyjson_mut_arr_add_str(doc, events, *event);
}

yyjson_mut_val *manifest_json(struct request *rq, const struct manifest *manifest,
                              yyjson_mut_doc *doc)
{
	const char *site = process_settings.public_url;
	if (!site[0])
		raise_error(rq, ERR_NOT_CONFIGURED, "PUBLIC_URL is not set");
	const char *name = manifest->name ? manifest->name
	                                  : arena_printf(rq->arena, "expops %.*s",
	                                                 MANIFEST_NAME_MAX - (int)strlen("expops "),
	                                                 host_of(rq->arena, site));
	yyjson_mut_val *object = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, object, "name", name);
	yyjson_mut_obj_add_str(doc, object, "url", site);
	yyjson_mut_obj_add_str(doc, object, "description", DESCRIPTION);
	yyjson_mut_obj_add_bool(doc, object, "public", manifest->is_public);
	add_hook(rq, doc, object);
	add_landings(rq, doc, object);
	add_rights(doc, object);
	return object;
}

const char *manifest_action(struct request *rq, const struct manifest *manifest, const char *state)
{
	const char *owner = manifest->organization ? arena_printf(rq->arena, "/organizations/%s",
	                                                          manifest->organization)
	                                           : "";
	return arena_printf(rq->arena, "%s%s/settings/apps/new?state=%s", code_host_web_url(),
	                    owner, state);
}

bool manifest_organization_check(const char *text, size_t length, const char **ret_message)
{
	*ret_message = "must be the login of an organisation: letters, digits and hyphens";
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '-')
			return false;
	return true;
}
