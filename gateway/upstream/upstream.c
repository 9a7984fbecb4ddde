#include "base/base.h"
#include "base/log.h"
#include "upstream/upstream_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RESOLVE_MS 5000
#define SILENT_MS  2000 /* an address that did not answer is left out for so long */

const struct upstream_limits upstream_limits_default = {
	.connect_timeout_ms = 1000,
	.answer_timeout_ms = 35000, /* a service gives up by itself before */
	.content_timeout_ms = 30000,
	.idle_timeout_ms = 30000,
	.idle_max = 128,
	.head_max_bytes = 64 << 10,
	.fields_max = 128,
	.send_high_bytes = 256 << 10,
};

static void on_closed(uv_handle_t *handle)
{
	up_handle_closed(handle->data);
}

void up_handle_closed(struct upstream *upstream)
{
	if (--upstream->handle_count == 0 && upstream->is_freed)
		free(upstream);
}

/* A numeric address needs no look-up. */
static bool place_parse(const struct address *address, struct up_place *place)
{
	return uv_ip4_addr(address->host, address->port, (struct sockaddr_in *)&place->to) == 0 ||
	       uv_ip6_addr(address->host, address->port, (struct sockaddr_in6 *)&place->to) == 0;
}

struct upstream *upstream_new(uv_loop_t *loop, const char *name, const struct address *address,
                              const struct upstream_limits *limits)
{
	struct upstream *upstream = calloc(1, sizeof(*upstream));
	require(upstream != NULL);
	upstream->loop = loop;
	upstream->name = name;
	upstream->address = address;
	upstream->limits = limits;
	upstream->handle_count = 1;
	TAILQ_INIT(&upstream->conns);
	TAILQ_INIT(&upstream->idle);
	TAILQ_INIT(&upstream->waiting);
	TAILQ_INIT(&upstream->failed);
	uv_timer_init(loop, &upstream->timer);
	upstream->timer.data = upstream->resolve.data = upstream;
	upstream->is_name = !address->is_unix && !place_parse(address, &upstream->places[0]);
	upstream->place_count = upstream->is_name ? 0 : 1;
	return upstream;
}

void upstream_register(void)
{
	up_conn_register();
}

void upstream_free(struct upstream *upstream)
{
	if (upstream == NULL)
		return;
	require(TAILQ_EMPTY(&upstream->waiting) && TAILQ_EMPTY(&upstream->failed));
	while (!TAILQ_EMPTY(&upstream->conns))
		up_conn_close(TAILQ_FIRST(&upstream->conns));
	upstream->is_freed = true;
	if (upstream->is_resolving)
		(void)uv_cancel((uv_req_t *)&upstream->resolve);
	uv_close((uv_handle_t *)&upstream->timer, on_closed);
}

size_t upstream_connections(const struct upstream *upstream)
{
	return upstream->conn_count;
}

size_t upstream_idle(const struct upstream *upstream)
{
	return upstream->idle_count;
}

size_t upstream_queued(const struct upstream *upstream)
{
	size_t queued = 0;
	const struct up_conn *conn;
	TAILQ_FOREACH(conn, &upstream->conns, all)
	queued += uv_stream_get_write_queue_size(&conn->stream);
	return queued;
}

void up_call_fail(struct upstream_call *call, const struct upstream_failure *failure)
{
	call->conn = NULL;
	log_debug(LOG_GROUP_PROXY, "call failed", f_text("service", call->upstream->name),
	          f_text("reason", failure->reason), f_bool("is_reused", failure->is_reused));
	call->handler->on_failed(call->user, failure);
}

static void on_failed_calls(uv_timer_t *timer)
{
	struct upstream *upstream = timer->data;
	struct upstream_call *call;
	while ((call = TAILQ_FIRST(&upstream->failed)) != NULL) {
		TAILQ_REMOVE(&upstream->failed, call, link);
		call->is_failed = false;
		up_call_fail(call, &call->failure);
	}
}

/* Fail the call from the loop. */
static void call_fail_later(struct upstream_call *call, const char *reason)
{
	struct upstream *upstream = call->upstream;
	call->conn = NULL;
	call->is_failed = true;
	call->failure = (struct upstream_failure){.code = ERR_UNAVAILABLE, .reason = reason};
	TAILQ_INSERT_TAIL(&upstream->failed, call, link);
	uv_timer_start(&upstream->timer, on_failed_calls, 0, 0);
}

/* The next address in turn that this call has not tried; -1: none. */
static int place_next(struct upstream *upstream, unsigned tried)
{
	uint64_t now_ms = uv_now(upstream->loop);
	for (int i = 0; i < upstream->place_count; i++) {
		int place = (upstream->next_place + i) % upstream->place_count;
		if ((tried & 1U << place) == 0 &&
		    upstream->places[place].silent_until_ms <= now_ms) {
			upstream->next_place = place + 1;
			return place;
		}
	}
	return -1;
}

static void resolve_start(struct upstream *upstream);

/* Connect to the next address, or wait for the look-up, or fail. */
static void call_dial(struct upstream_call *call, const char *reason)
{
	struct upstream *upstream = call->upstream;
	bool is_stale =
		upstream->is_name && (upstream->resolved_ms == 0 ||
	                              uv_now(upstream->loop) - upstream->resolved_ms >= RESOLVE_MS);
	if (is_stale && !upstream->is_resolving)
		resolve_start(upstream);
	int place = place_next(upstream, call->tried);
	if (place >= 0) {
		up_conn_dial(call, place);
	} else if (upstream->place_count == 0 && upstream->is_resolving) {
		call->conn = NULL;
		TAILQ_INSERT_TAIL(&upstream->waiting, call, link);
	} else {
		call_fail_later(call, reason);
	}
}

void up_call_connect_failed(struct upstream_call *call, int place, bool is_silent, int uv_code)
{
	struct upstream *upstream = call->upstream;
	call->tried |= 1U << place;
	upstream->resolved_ms = 0;
	if (is_silent)
		upstream->places[place].silent_until_ms = uv_now(upstream->loop) + SILENT_MS;
	log_debug(LOG_GROUP_PROXY, "cannot connect", f_text("service", upstream->name),
	          f_text("reason", uv_strerror(uv_code)));
	call_dial(call, "no connection to the service");
}

/* Take the addresses over; those that were silent and are still there stay so. */
static void places_set(struct upstream *upstream, const struct addrinfo *infos)
{
	struct up_place old[UPSTREAM_PLACES_MAX];
	int old_count = upstream->place_count, count = 0;
	memcpy(old, upstream->places, sizeof(old));
	for (const struct addrinfo *info = infos; info != NULL && count < UPSTREAM_PLACES_MAX;
	     info = info->ai_next) {
		struct up_place place = {0};
		memcpy(&place.to, info->ai_addr, info->ai_addrlen);
		for (int i = 0; i < old_count; i++)
			if (memcmp(&old[i].to, &place.to, sizeof(place.to)) == 0)
				place.silent_until_ms = old[i].silent_until_ms;
		upstream->places[count++] = place;
	}
	upstream->place_count = count;
	upstream->resolved_ms = uv_now(upstream->loop);
}

static void on_resolved(uv_getaddrinfo_t *req, int status, struct addrinfo *infos)
{
	struct upstream *upstream = req->data;
	upstream->is_resolving = false;
	if (status == 0 && !upstream->is_freed)
		places_set(upstream, infos);
	else if (!upstream->is_freed)
		log_warn(LOG_GROUP_PROXY, "cannot look the service up",
		         f_text("service", upstream->name), f_text("reason", uv_strerror(status)));
	uv_freeaddrinfo(infos);
	struct upstream_call_list waiting = TAILQ_HEAD_INITIALIZER(waiting);
	TAILQ_CONCAT(&waiting, &upstream->waiting, link);
	struct upstream_call *call;
	while ((call = TAILQ_FIRST(&waiting)) != NULL) {
		TAILQ_REMOVE(&waiting, call, link);
		if (status == 0)
			call_dial(call, "no connection to the service");
		else
			call_fail_later(call, "the service's name is not known");
	}
	up_handle_closed(upstream);
}

static void resolve_start(struct upstream *upstream)
{
	const struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICSERV | AI_ADDRCONFIG,
	};
	char port[8];
	snprintf(port, sizeof(port), "%u", upstream->address->port);
	if (uv_getaddrinfo(upstream->loop, &upstream->resolve, on_resolved, upstream->address->host,
	                   port, &hints) != 0)
		return;
	upstream->is_resolving = true;
	upstream->handle_count++;
}

struct upstream_call *upstream_call(struct upstream *upstream, struct arena *arena,
                                    const struct upstream_handler *handler, void *user,
                                    bool is_head, bool is_fresh, bool *ret_is_ready)
{
	struct upstream_call *call = arena_new_of(arena, struct upstream_call);
	*call = (struct upstream_call){
		.upstream = upstream,
		.arena = arena,
		.handler = handler,
		.user = user,
		.is_head = is_head,
	};
	struct up_conn *conn = is_fresh ? NULL : TAILQ_FIRST(&upstream->idle);
	*ret_is_ready = conn != NULL;
	if (conn != NULL)
		up_conn_take(conn, call);
	else
		call_dial(call, "the service does not answer");
	return call;
}

void upstream_cancel(struct upstream_call *call)
{
	struct up_conn *conn = call->conn;
	if (conn != NULL) {
		conn->call = NULL;
		up_conn_close(conn);
	} else if (call->is_failed) {
		TAILQ_REMOVE(&call->upstream->failed, call, link);
	} else {
		TAILQ_REMOVE(&call->upstream->waiting, call, link);
	}
}
