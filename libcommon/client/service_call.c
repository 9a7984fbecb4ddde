#include "client/service_call.h"

#include "base/address.h"
#include "base/base.h"
#include "base/timefmt.h"
#include "client/endpoints.h"
#include "client/transfer.h"
#include "crypto/identity.h"
#include "crypto/scope.h"
#include "http/internal_api.h"
#include "http/method.h"
#include "http/server.h"
#include "json/json.h"
#include "loop/fiber.h"
#include "loop/worker.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/queue.h>

#define FIELDS_MAX         4
#define TIMEOUT_MAX_MS     30000
#define CONNECT_TIMEOUT_MS 1000
#define FIRST_TRY_FRACTION 3   /* the first of two endpoints gets this part of the time left */
#define SENT_MAX           2   /* how often a call that can be sent again is */
#define FAULT_MIN_MS       500 /* an endpoint that had less time to answer has not failed */

/* A fiber that waits for a look-up, on its stack. */
struct waiter {
	struct fiber *fiber;
	TAILQ_ENTRY(waiter) link;
};

/* What a worker knows about one service. */
struct peer {
	struct service_client *client;
	struct address address;
	struct endpoints *endpoints; /* NULL: no address of the service, or no secret */
	TAILQ_HEAD(, waiter) waiting;
};

struct service_client {
	struct arena *arena; /* of the addresses */
	uv_timer_t timer;    /* wakes the waiters when the time of one has passed */
	struct peer peers[API_SERVICE_COUNT];
};

/* --- The client ------------------------------------------------------------------------------- */

static void wake_waiters(struct peer *peer)
{
	struct waiter *waiter;
	TAILQ_FOREACH (waiter, &peer->waiting, link)
		fiber_wake(waiter->fiber);
}

static void on_lookup(void *context, int status)
{
	(void)status;
	wake_waiters(context);
}

static void on_timer(uv_timer_t *timer)
{
	struct service_client *client = timer->data;
	for (int service = 0; service < API_SERVICE_COUNT; service++)
		wake_waiters(&client->peers[service]);
}

struct service_client *service_client_new(uv_loop_t *loop, const struct peers *peers)
{
	static const struct endpoint_times TIMES = ENDPOINT_TIMES_DEFAULT;
	struct service_client *client = calloc(1, sizeof(*client));
	require(client);
	client->arena = arena_new();
	uv_timer_init(loop, &client->timer);
	client->timer.data = client;
	for (enum api_service service = 0; service < API_SERVICE_COUNT; service++) {
		struct peer *peer = &client->peers[service];
		const char *url = peers->signers[service] ? peers->url[service] : NULL;
		peer->client = client;
		TAILQ_INIT(&peer->waiting);
		if (url && url[0] && address_parse(client->arena, url, &peer->address) == ERR_NONE)
			peer->endpoints = endpoints_new(loop, api_service_name(service),
			                                &peer->address, &TIMES, on_lookup, peer);
	}
	return client;
}

static void on_client_closed(uv_handle_t *handle)
{
	struct service_client *client = handle->data;
	arena_free(client->arena);
	free(client);
}

void service_client_free(struct service_client *client)
{
	if (!client)
		return;
	for (int service = 0; service < API_SERVICE_COUNT; service++)
		endpoints_free(client->peers[service].endpoints);
	uv_close((uv_handle_t *)&client->timer, on_client_closed);
}

/* --- One attempt ------------------------------------------------------------------------------ */

static uint64_t left_ms(uint64_t until_ms)
{
	uint64_t now_ms = time_monotonic_ms();
	return until_ms > now_ms ? until_ms - now_ms : 0;
}

/* Wait for a look-up, at most until `until_ms`. Returns the reason of a cancellation. */
static enum err_code wait_lookup(struct peer *peer, uint64_t until_ms)
{
	struct waiter waiter = {.fiber = fiber_self()};
	uv_timer_t *timer = &peer->client->timer;
	uint64_t wait_ms = left_ms(until_ms);
	if (!uv_is_active((uv_handle_t *)timer) || uv_timer_get_due_in(timer) > wait_ms)
		uv_timer_start(timer, on_timer, wait_ms, 0);
	TAILQ_INSERT_TAIL(&peer->waiting, &waiter, link);
	enum err_code code = fiber_wait();
	TAILQ_REMOVE(&peer->waiting, &waiter, link);
	return code;
}

/* Take an endpoint that was not tried. ERR_UNAVAILABLE: there is none. */
static enum err_code take(struct peer *peer, const struct endpoint_set *tried, uint64_t until_ms,
                          struct endpoint **ret_endpoint)
{
	while (!(*ret_endpoint = endpoints_take(peer->endpoints, tried))) {
		if (!endpoints_is_resolving(peer->endpoints) || left_ms(until_ms) == 0)
			return ERR_UNAVAILABLE;
		enum err_code code = wait_lookup(peer, until_ms);
		if (code)
			return code;
	}
	return ERR_NONE;
}

/* The value of IDENTITY_HEADER. */
static char *sign(struct request *rq, const struct service_call *call)
{
	const struct identity identity = {
		.account = rq->caller.account,
		.kind = KEY_SERVICE,
		.scopes = SCOPE_ALL,
		.repo = rq->caller.is_repo_verified ? rq->caller.repo : NULL,
		.is_repo_verified = rq->caller.is_repo_verified,
	};
	const char *method = call->method ? call->method : "GET";
	const struct identity_request request = {
		.method = method,
		.method_length = strlen(method),
		.target = call->path,
		.target_length = strlen(call->path),
		.id = rq->id,
	};
	const struct identity_signer *signer = rq->worker->peers->signers[call->service];
	struct signed_identity *signed_identity =
		signed_identity_new(signer, &identity, time_now_ms());
	char *value = identity_sign(signed_identity, rq->arena, &request);
	signed_identity_free(signed_identity);
	return value;
}

static size_t make_fields(struct request *rq, const struct service_call *call,
                          struct http_field fields[FIELDS_MAX])
{
	size_t count = 0;
	fields[count++] = http_field_of(IDENTITY_HEADER, sign(rq, call));
	fields[count++] = http_field_of("X-Request-Id", rq->id);
	if (call->json_body)
		fields[count++] = http_field_of("Content-Type", "application/json");
	return count;
}

/* The code of a 503: what the service says about the outcome. */
static enum err_code unavailable_code(struct request *rq, const struct fetch_response *answer,
                                      enum http_effect effect)
{
	yyjson_val *problem;
	const char *slug = NULL;
	if (effect != HTTP_SAFE && !fetch_json(rq->arena, answer, &problem))
		slug = json_get_text(problem, "error");
	bool is_uncertain = slug && strcmp(slug, err_info(ERR_UNCERTAIN)->slug) == 0;
	return is_uncertain ? ERR_UNCERTAIN : ERR_UNAVAILABLE;
}

/* Send the call to the endpoint and wait for the answer. `ret_is_sent`: it may have read the
 * request. */
static enum err_code send_to(struct request *rq, const struct service_call *call,
                             const struct endpoint *endpoint, uint64_t timeout_ms,
                             enum http_effect effect, struct fetch_response **ret_answer,
                             bool *ret_is_sent)
{
	struct http_field fields[FIELDS_MAX];
	bool is_unix = endpoint->address.ss_family == AF_UNIX;
	const struct fetch_call fetch = {
		.method = call->method,
		.url = arena_printf(rq->arena, "http://%s%s", is_unix ? "service" : endpoint->name,
	                            call->path),
		.unix_path = is_unix ? endpoint->name : NULL,
		.fields = fields,
		.field_count = make_fields(rq, call, fields),
		.body = call->json_body,
		.body_length = call->json_body ? strlen(call->json_body) : 0,
		.timeout_ms = timeout_ms,
		.connect_timeout_ms = CONNECT_TIMEOUT_MS,
		.is_direct = true,
		.service = api_service_name(call->service),
		.response_max_bytes = call->response_max_bytes,
		.effect = effect,
	};
	enum err_code code = fetch_once(rq, &fetch, ret_answer, ret_is_sent);
	if (code)
		return code;
	code = http_unhandled_code((*ret_answer)->status, (int64_t)(*ret_answer)->body_length);
	if (code) {
		*ret_answer = NULL;
		*ret_is_sent = false;
		return code;
	}
	return (*ret_answer)->status == 503 ? unavailable_code(rq, *ret_answer, effect) : ERR_NONE;
}

/* --- The call --------------------------------------------------------------------------------- */

/* Whether the endpoint is about to end: it closes connections. A refusal may do so for another
 * reason. */
static bool is_retiring(const struct fetch_response *answer)
{
	const char *connection = fetch_field(answer, "Connection");
	return answer->status < 400 && connection && strcasecmp(connection, "close") == 0;
}

/* Tell the endpoints how the attempt ended. */
static void report(struct peer *peer, struct endpoint *endpoint, enum err_code code,
                   const struct fetch_response *answer, uint64_t timeout_ms)
{
	if (answer && is_retiring(answer))
		endpoints_retiring(peer->endpoints, endpoint);
	if (answer)
		endpoints_answered(peer->endpoints, endpoint);
	else if (code == ERR_MISDIRECTED)
		endpoints_misdirected(peer->endpoints, endpoint);
	else if (code == ERR_UNAVAILABLE || code == ERR_UNCERTAIN ||
	         (code == ERR_TIMEOUT && timeout_ms >= FAULT_MIN_MS))
		endpoints_failed(peer->endpoints, endpoint, err_info(code)->slug);
}

/* Whether another endpoint may do what this one has not, or is not known to have done. */
static bool is_to_be_sent_again(enum err_code code, enum http_effect effect)
{
	return code == ERR_UNAVAILABLE || code == ERR_TIMEOUT ||
	       (code == ERR_UNCERTAIN && effect != HTTP_ONCE);
}

enum err_code service_call(struct request *rq, const struct service_call *call,
                           struct fetch_response **ret_answer)
{
	struct peer *peer = &rq->worker->services->peers[call->service];
	uint64_t limit_ms = call->timeout_ms ? call->timeout_ms : TIMEOUT_MAX_MS;
	uint64_t until_ms = time_monotonic_ms() + MIN_OF(limit_ms, request_left_ms(rq));
	enum http_effect effect = http_effect_of(call->effect, call->method);
	struct endpoint_set tried = {0};
	enum err_code code = ERR_UNAVAILABLE;
	bool is_uncertain = false; /* one that was tried may have done it */
	int sent_left = effect == HTTP_ONCE ? 1 : SENT_MAX;
	while (peer->endpoints && sent_left > 0) {
		struct endpoint *endpoint;
		struct fetch_response *answer = NULL;
		bool is_sent = false;
		enum err_code taken = take(peer, &tried, until_ms, &endpoint);
		if (taken && taken != ERR_UNAVAILABLE)
			return taken;
		if (taken)
			break;
		endpoint_set_add(&tried, rq->arena, endpoint);
		bool has_other = endpoints_has_other(peer->endpoints, &tried);
		uint64_t timeout_ms = left_ms(until_ms);
		if (sent_left > 1 && has_other)
			timeout_ms /= FIRST_TRY_FRACTION;
		code = send_to(rq, call, endpoint, MAX_OF(timeout_ms, 1), effect, &answer,
		               &is_sent);
		report(peer, endpoint, code, answer, timeout_ms);
		endpoint_release(endpoint);
		if (code == ERR_MISDIRECTED)
			code = ERR_UNAVAILABLE;
		if (answer)
			*ret_answer = answer;
		is_uncertain |= code == ERR_UNCERTAIN || (code == ERR_TIMEOUT && is_sent);
		if (!is_to_be_sent_again(code, effect) || left_ms(until_ms) == 0)
			break;
		sent_left -= is_sent;
		if (is_sent && !has_other) /* behind one address there may be several replicas */
			tried.count = 0;
	}
	bool is_known = code == ERR_NONE || code == ERR_TIMEOUT || effect == HTTP_SAFE;
	return is_uncertain && !is_known ? ERR_UNCERTAIN : code;
}
