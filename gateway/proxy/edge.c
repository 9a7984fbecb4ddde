#include "proxy/edge.h"

#include "audit/audit.h"
#include "base/base.h"
#include "base/timefmt.h"
#include "console/console.h"
#include "gateway_process.h"
#include "http/internal_api.h"
#include "input/input.h"
#include "key/key_check.h"
#include "limit/rate_limit.h"
#include "loop/request_list.h"
#include "oidc/provider.h"
#include "pacing/client_id.h"
#include "proxy/cors.h"
#include "proxy/forwarded.h"
#include "proxy/origin.h"
#include "proxy/proxy.h"
#include "request/http_request.h"
#include "request/http_service.h"
#include "service/process.h"
#include "service/service.h"
#include "upstream/upstream.h"
#include "usage/key_usage.h"

#include <stdio.h>
#include <string.h>

static int64_t rate_limit, account_rate_limit, open_rate_limit, handshake_rate, connect_timeout_ms;
static const char *trusted_proxies, *proxy_protocol, *cors_origins;
static bool https_redirect;

const struct setting EDGE_SETTINGS[] = {
	SETTING_INT(&rate_limit, "RATE_LIMIT", "1000", 0, 1000000,
                    "Requests a second that each key may make of this replica; 0: no limit, also "
                    "for accounts."),
	SETTING_INT(&account_rate_limit, "ACCOUNT_RATE_LIMIT", "2000", 0, 1000000,
                    "Requests a second that all keys of an account together may make of this "
                    "replica; 0: no limit."),
	SETTING_INT(&open_rate_limit, "OPEN_RATE_LIMIT", "200", 0, 1000000,
                    "Requests a second without a key, such as webhooks, that each client address "
                    "(IPv6: each /64) may make of this replica; 0: no limit."),
	SETTING_MS(&connect_timeout_ms, "CONNECT_TIMEOUT", "1s", 10, 60000,
                   "How long each address of a service may take to accept a connection."),
	SETTING_TEXT(&trusted_proxies, "TRUSTED_PROXIES", "",
                     "Load balancers whose X-Forwarded-For and X-Forwarded-Proto are used: "
                     "addresses and networks such as 10.0.0.0/8, ::1, unix."),
	SETTING_TEXT(&cors_origins, "CORS_ORIGINS", "",
                     "Origins of web pages that may call the API from a browser, such as "
                     "https://app.example.org; * for all."),
	SETTING_TEXT(&proxy_protocol, "PROXY_PROTOCOL", "",
                     "Load balancers each of whose connections begins with a header of the PROXY "
                     "protocol, version 1 or 2, which names the client; addresses and networks as "
                     "in TRUSTED_PROXIES."),
	SETTING_BOOL(
		&https_redirect, "HTTPS_REDIRECT", "off",
		"Send requests that did not come by HTTPS to PUBLIC_URL (308), except probes."),
	SETTING_INT(&handshake_rate, "TLS_HANDSHAKE_RATE", "50", 0, 1000000,
                    "TLS handshakes a second that each client address (IPv6: each /64) may begin "
                    "with this replica, except those of TRUSTED_PROXIES; 0: no limit."),
	SETTING_END,
};

static enum err_code check_networks(const char *name, const char *text)
{
	struct arena *arena = arena_new();
	const struct trusted *trusted;
	enum err_code code = trusted_parse(arena, text, &trusted);
	if (code)
		fprintf(stderr, "%s: \"%s\" is not a list of addresses and networks\n", name, text);
	arena_free(arena);
	return code;
}

static enum err_code check_cors(void)
{
	struct arena *arena = arena_new();
	const struct cors *cors;
	enum err_code code = cors_parse(arena, cors_origins, &cors);
	if (code)
		fprintf(stderr, "CORS_ORIGINS: \"%s\" is not a list of origins\n", cors_origins);
	arena_free(arena);
	return code;
}

/* A redirect needs a place to lead to. */
static enum err_code check_redirect(void)
{
	static const char HTTPS[] = "https://";
	if (!https_redirect || strncmp(process_settings.public_url, HTTPS, sizeof(HTTPS) - 1) == 0)
		return ERR_NONE;
	fprintf(stderr, "HTTPS_REDIRECT: needs a PUBLIC_URL that begins with https://\n");
	return ERR_INVALID;
}

enum err_code edge_settings_check(void)
{
	const enum err_code codes[] = {
		check_networks("TRUSTED_PROXIES", trusted_proxies),
		check_networks("PROXY_PROTOCOL", proxy_protocol),
		check_cors(),
		check_redirect(),
	};
	for (size_t i = 0; i < ARRAY_LEN(codes); i++)
		if (codes[i])
			return codes[i];
	return ERR_NONE;
}

/* What a worker owns: worker->user. */
struct edge {
	struct worker *worker;
	struct arena *arena;
	struct key_checker *keys;
	struct key_usage *usage;
	struct proxy *proxy;
	struct upstream_limits limits;
	struct upstream *services[API_SERVICE_COUNT];
};

/* --- The listener ----------------------------------------------------------------------------- */

/* Whether a service may have sent it, to use an operation of internal.def. Without an identity the
 * path is unknown, as any other that is not in api.def. */
static bool is_internal(const struct http_head *head)
{
	static const char PREFIX[] = "/internal/";
	return strncmp(head->target, PREFIX, sizeof(PREFIX) - 1) == 0 &&
	       http_head_get(head, IDENTITY_HEADER);
}

static void on_head(struct http_exchange *x)
{
	struct worker *worker = http_server_context(x->server);
	if (is_internal(&x->head)) {
		http_exchange_hand_over(x, &http_service_handler);
		return;
	}
	struct edge *edge = worker->user;
	proxy_head(edge->proxy, x);
}

static bool awaits_header(struct http_server *server, const char *peer)
{
	struct worker *worker = http_server_context(server);
	const struct gateway_process *gateway = worker->process->user;
	return trusted_has_peer(gateway->header_senders, peer);
}

/* Behind a trusted proxy are many clients. */
static bool on_handshake(struct http_server *server, const char *peer)
{
	struct worker *worker = http_server_context(server);
	const struct gateway_process *gateway = worker->process->user;
	struct uuid bucket = client_id(peer);
	return handshake_rate == 0 || trusted_has_peer(gateway->trusted, peer) ||
	       rate_limiter_take(gateway->handshakes, &bucket, time_monotonic_us()).is_allowed;
}

const struct http_handler edge_handler = {
	.awaits_header = awaits_header,
	.on_handshake = on_handshake,
	.on_head = on_head,
	.on_content = proxy_content,
	.on_end = proxy_end,
	.on_drained = proxy_drained,
	.on_gone = proxy_gone,
	.on_done = proxy_done,
	.refuse = http_refuse_problem,
};

/* --- Start and stop --------------------------------------------------------------------------- */

void edge_process_start(struct process *process)
{
	struct arena *arena = arena_new();
	struct gateway_process *gateway = arena_new_of(arena, struct gateway_process);
	key_checkers_start(gateway);
	gateway->arena = arena;
	gateway->limits =
		rate_limits_new(rate_limit, rate_limit ? account_rate_limit : 0, open_rate_limit);
	require(trusted_parse(arena, trusted_proxies, &gateway->trusted) == ERR_NONE);
	require(trusted_parse(arena, proxy_protocol, &gateway->header_senders) == ERR_NONE);
	require(cors_parse(arena, cors_origins, &gateway->cors) == ERR_NONE);
	gateway->origins = origin_rules_new(arena, process->settings->public_url,
	                                    process->settings->listen, gateway->cors);
	gateway->console = console_load(arena);
	gateway->cookies = cookie_rules_of(gateway->origins->public_origin,
	                                   process_listens_by_tls_only(process->settings));
	gateway->https_origin = https_redirect ? gateway->origins->public_origin : NULL;
	gateway->handshakes = rate_limiter_new(handshake_rate);
	gateway->refusals = audit_limiter_new();
	gateway->oidc = oidc_cache_new(arena, process->worker_count);
	process->user = gateway;
}

void edge_process_stop(struct process *process)
{
	struct gateway_process *gateway = process->user;
	key_checkers_stop(gateway);
	oidc_cache_free(gateway->oidc);
	rate_limits_free(gateway->limits);
	rate_limiter_free(gateway->handshakes);
	rate_limiter_free(gateway->refusals);
	arena_free(gateway->arena);
}

/* Make an upstream for each service that has an address. A service ends a slow request itself, so
 * the gateway waits ANSWER_GRACE_MS longer than the service's own limit. */
static void make_upstreams(struct edge *edge)
{
	const struct process_settings *settings = edge->worker->process->settings;
	edge->limits = upstream_limits_default;
	edge->limits.connect_timeout_ms = (uint64_t)connect_timeout_ms;
	edge->limits.answer_timeout_ms = (uint64_t)settings->request_timeout_ms + ANSWER_GRACE_MS;
	edge->limits.content_timeout_ms = (uint64_t)settings->body_pause_ms;
	for (int service = API_GATEWAY + 1; service < API_SERVICE_COUNT; service++) {
		const char *url = settings->service_url[service];
		if (!url || !url[0])
			continue;
		struct address *address = arena_new_of(edge->arena, struct address);
		require(address_parse(edge->arena, url, address) == ERR_NONE);
		edge->services[service] =
			upstream_new(&edge->worker->loop, api_service_name(service), address,
		                     &edge->limits);
	}
}

struct proxy *edge_proxy(const struct worker *worker)
{
	const struct edge *edge = worker->user;
	return edge->proxy;
}

void edge_worker_start(struct worker *worker)
{
	const struct gateway_process *gateway = worker->process->user;
	struct arena *arena = arena_new();
	struct edge *edge = arena_new_of(arena, struct edge);
	edge->worker = worker;
	edge->arena = arena;
	edge->keys = key_checker_new(worker);
	edge->usage = key_usage_new(worker);
	make_upstreams(edge);
	edge->proxy = proxy_new(&(struct proxy_parts){
		.worker = worker,
		.keys = edge->keys,
		.usage = edge->usage,
		.limits = gateway->limits,
		.signers = worker->process->peers.signers,
		.services = edge->services,
		.trusted = gateway->trusted,
		.cors = gateway->cors,
		.origins = gateway->origins,
		.https_origin = gateway->https_origin,
		.console = gateway->console,
		.cookies = &gateway->cookies,
	});
	worker->user = edge;
}

void edge_worker_drained(struct worker *worker)
{
	const struct edge *edge = worker->user;
	key_usage_end(edge->usage);
}

void edge_worker_stop(struct worker *worker)
{
	struct edge *edge = worker->user;
	/* End the exchanges that are still open after the drain, while the proxy can cancel their
	 * calls. */
	http_server_free(worker->server);
	worker->server = NULL;
	proxy_free(edge->proxy);
	for (int service = 0; service < API_SERVICE_COUNT; service++)
		upstream_free(edge->services[service]);
	key_checker_free(edge->keys);
	key_usage_free(edge->usage);
	arena_free(edge->arena);
	worker->user = NULL;
}
