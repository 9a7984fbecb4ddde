#include "client/endpoints.h"

#include "base/base.h"
#include "loop/resolver.h"
#include "observe/log.h"
#include "pacing/backoff.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* An endpoint with the members that only this file uses. */
struct member {
	struct endpoint endpoint; /* its address, padded with zeros, is the key */
	UT_hash_handle hh;        /* in `members`, until it is removed */
	uint64_t id;
	uint64_t listed_ms;   /* uv_now() of the newest look-up that listed it */
	uint64_t lookup;      /* number of that look-up */
	uint64_t retry_ms;    /* uv_now() of the next trial, when failures > 0 */
	uint64_t retiring_ms; /* uv_now() until which it is left out; 0: it does not retire */
	unsigned failures;    /* since the last answer */
	unsigned outstanding;
	bool is_removed;
};

struct endpoints {
	uv_loop_t *loop;
	const char *service;
	const struct address *address;
	const struct endpoint_times *times;
	endpoints_cb *on_lookup;
	void *context;
	struct resolver *resolver; /* NULL: not a host name */
	struct member *members;    /* uthash, by address */
	struct member *last;       /* the one taken last; NULL: begin with the first */
	uint64_t last_id;
	uint64_t lookups;        /* that have succeeded */
	uint64_t lookup_ms;      /* uv_now() at which the next look-up is due */
	uint64_t lookup_last_ms; /* uv_now() of the end of the last one */
	int lookup_status;       /* of the last one, to log changes only */
};

static struct member *member_of(struct endpoint *endpoint)
{
	return CONTAINER_OF(endpoint, struct member, endpoint);
}

/* --- Members ---------------------------------------------------------------------------------- */

static void name_set(struct endpoint *endpoint)
{
	const struct sockaddr_storage *address = &endpoint->address;
	char ip[INET6_ADDRSTRLEN];
	if (address->ss_family == AF_INET6) {
		const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;
		uv_ip6_name(v6, ip, sizeof(ip));
		snprintf(endpoint->name, sizeof(endpoint->name), "[%s]:%u", ip,
		         ntohs(v6->sin6_port));
	} else {
		const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
		uv_ip4_name(v4, ip, sizeof(ip));
		snprintf(endpoint->name, sizeof(endpoint->name), "%s:%u", ip, ntohs(v4->sin_port));
	}
}

static struct member *member_add(struct endpoints *endpoints,
                                 const struct sockaddr_storage *address)
{
	struct member *member = calloc(1, sizeof(*member));
	require(member);
	member->endpoint.address = *address;
	member->id = ++endpoints->last_id;
	TAILQ_INIT(&member->endpoint.kept);
	HASH_ADD(hh, endpoints->members, endpoint.address, sizeof(*address), member);
	return member;
}

static void member_free_if_unused(struct member *member)
{
	if (member->is_removed && member->outstanding == 0 && TAILQ_EMPTY(&member->endpoint.kept))
		free(member);
}

/* Give it no further calls. */
static void member_remove(struct endpoints *endpoints, struct member *member)
{
	if (endpoints->last == member)
		endpoints->last = member->hh.prev;
	HASH_DEL(endpoints->members, member);
	member->is_removed = true;
	log_info("endpoint removed", f_text("service", endpoints->service),
	         f_text("endpoint", member->endpoint.name));
	member_free_if_unused(member);
}

static bool is_unlisted(const struct endpoints *endpoints, const struct member *member)
{
	return endpoints->resolver && member->lookup != endpoints->lookups;
}

/* --- Look-ups --------------------------------------------------------------------------------- */

/* Note the addresses of the newest look-up, and remove the members that are unlisted and failing,
 * or unlisted for too long. */
static void list_set(struct endpoints *endpoints, const struct sockaddr_storage *addresses,
                     size_t count)
{
	uint64_t now_ms = uv_now(endpoints->loop);
	struct member *member, *next;
	endpoints->lookups++;
	for (size_t i = 0; i < count; i++) {
		HASH_FIND(hh, endpoints->members, &addresses[i], sizeof(addresses[i]), member);
		if (!member) {
			member = member_add(endpoints, &addresses[i]);
			name_set(&member->endpoint);
		}
		member->listed_ms = now_ms;
		member->lookup = endpoints->lookups;
	}
	HASH_ITER (hh, endpoints->members, member, next) {
		bool is_expired = now_ms - member->listed_ms >= endpoints->times->unlisted_ms;
		if (is_unlisted(endpoints, member) && (member->failures > 0 || is_expired))
			member_remove(endpoints, member);
	}
}

/* A look-up has failed, or has succeeded again. */
static void status_note(struct endpoints *endpoints, int status)
{
	if (status == endpoints->lookup_status)
		return;
	endpoints->lookup_status = status;
	if (status == 0)
		log_info("the service's host name can be resolved again",
		         f_text("service", endpoints->service));
	else
		log_warn("cannot resolve the service's host name",
		         f_text("service", endpoints->service),
		         f_text("host", endpoints->address->host),
		         f_text("reason", uv_strerror(status)));
}

static void lookup_ended(struct endpoints *endpoints, int status)
{
	const struct endpoint_times *times = endpoints->times;
	endpoints->lookup_last_ms = uv_now(endpoints->loop);
	endpoints->lookup_ms = endpoints->lookup_last_ms +
	                       (status == 0 ? times->lookup_ms : times->lookup_retry_ms);
	status_note(endpoints, status);
}

static void on_resolved(void *context, int status, const struct sockaddr_storage *addresses,
                        int count)
{
	struct endpoints *endpoints = context;
	lookup_ended(endpoints, status);
	if (status == 0)
		list_set(endpoints, addresses, (size_t)count);
	endpoints->on_lookup(endpoints->context, status);
}

static void lookup_if_due(struct endpoints *endpoints)
{
	if (!endpoints->resolver || uv_now(endpoints->loop) < endpoints->lookup_ms ||
	    resolver_is_busy(endpoints->resolver))
		return;
	int status = resolver_start(endpoints->resolver, endpoints->address->host,
	                            endpoints->address->port);
	if (status != 0)
		lookup_ended(endpoints, status);
}

/* Look the name up again soon, since the addresses may have changed. */
static void lookup_hasten(struct endpoints *endpoints)
{
	uint64_t soon_ms = endpoints->lookup_last_ms + endpoints->times->lookup_retry_ms;
	endpoints->lookup_ms = MIN_OF(endpoints->lookup_ms, soon_ms);
}

bool endpoints_is_resolving(const struct endpoints *endpoints)
{
	return endpoints->resolver && resolver_is_busy(endpoints->resolver);
}

/* --- Taking ----------------------------------------------------------------------------------- */

static bool is_retiring(const struct endpoints *endpoints, const struct member *member)
{
	return uv_now(endpoints->loop) < member->retiring_ms;
}

static bool is_left_out(const struct endpoints *endpoints, const struct member *member)
{
	if (is_retiring(endpoints, member))
		return true;
	return member->failures > 0 &&
	       (member->outstanding > 0 || uv_now(endpoints->loop) < member->retry_ms);
}

static bool set_has(const struct endpoint_set *set, uint64_t id)
{
	for (size_t i = 0; i < set->count; i++)
		if (set->ids[i] == id)
			return true;
	return false;
}

static struct member *after(const struct endpoints *endpoints, const struct member *member)
{
	return member && member->hh.next ? member->hh.next : endpoints->members;
}

/* The member with the least outstanding calls, beginning after the last one taken. */
static struct member *choose(const struct endpoints *endpoints, const struct endpoint_set *tried,
                             bool may_be_left_out)
{
	struct member *best = NULL, *first = after(endpoints, endpoints->last), *member = first;
	if (!first)
		return NULL;
	do {
		if ((!best || member->outstanding < best->outstanding) &&
		    !set_has(tried, member->id) &&
		    (may_be_left_out || !is_left_out(endpoints, member)))
			best = member;
		member = after(endpoints, member);
	} while (member != first);
	return best;
}

struct endpoint *endpoints_take(struct endpoints *endpoints, const struct endpoint_set *tried)
{
	struct member *member = endpoints->members;
	lookup_if_due(endpoints);
	bool is_only = member && !member->hh.next && tried->count == 0;
	if (!is_only)
		member = choose(endpoints, tried, false);
	if (!member)
		member = choose(endpoints, tried, true);
	if (!member)
		return NULL;
	member->outstanding++;
	endpoints->last = member;
	return &member->endpoint;
}

bool endpoints_has_other(const struct endpoints *endpoints, const struct endpoint_set *tried)
{
	return choose(endpoints, tried, false);
}

void endpoints_failed(struct endpoints *endpoints, struct endpoint *endpoint, const char *reason)
{
	struct member *member = member_of(endpoint);
	const struct endpoint_times *times = endpoints->times;
	uint64_t now_ms = uv_now(endpoints->loop);
	lookup_hasten(endpoints);
	/* Calls that fail together are one failure: the backoff grows with failed trials only. */
	if (member->is_removed || (member->failures > 0 && now_ms < member->retry_ms))
		return;
	if (member->failures++ == 0)
		log_warn("endpoint fails", f_text("service", endpoints->service),
		         f_text("endpoint", endpoint->name), f_text("reason", reason));
	member->retry_ms =
		now_ms + backoff_ms(member->failures, times->backoff_ms, times->backoff_max_ms);
	if (is_unlisted(endpoints, member))
		member_remove(endpoints, member);
}

void endpoints_misdirected(struct endpoints *endpoints, struct endpoint *endpoint)
{
	struct member *member = member_of(endpoint);
	endpoints_failed(
		endpoints, endpoint,
		"it does not accept this process's signature: another process, or another secret");
	if (endpoints->resolver && !member->is_removed)
		member_remove(endpoints, member);
}

void endpoints_answered(struct endpoints *endpoints, struct endpoint *endpoint)
{
	struct member *member = member_of(endpoint);
	if (member->failures > 0)
		log_info("endpoint answers again", f_text("service", endpoints->service),
		         f_text("endpoint", endpoint->name));
	member->failures = 0;
}

void endpoints_retiring(struct endpoints *endpoints, struct endpoint *endpoint)
{
	struct member *member = member_of(endpoint);
	if (!is_retiring(endpoints, member))
		log_info("endpoint retires", f_text("service", endpoints->service),
		         f_text("endpoint", endpoint->name));
	member->retiring_ms = uv_now(endpoints->loop) + endpoints->times->retiring_ms;
	lookup_hasten(endpoints);
}

void endpoint_release(struct endpoint *endpoint)
{
	struct member *member = member_of(endpoint);
	require(member->outstanding > 0);
	member->outstanding--;
	member_free_if_unused(member);
}

void endpoint_unkept(struct endpoint *endpoint)
{
	member_free_if_unused(member_of(endpoint));
}

size_t endpoints_count(const struct endpoints *endpoints)
{
	return HASH_COUNT(endpoints->members);
}

void endpoint_set_add(struct endpoint_set *set, struct arena *arena, struct endpoint *endpoint)
{
	if (set->count == set->room) {
		size_t room = set->room ? 2 * set->room : 4;
		set->ids = arena_grow(arena, set->ids, set->room * sizeof(*set->ids),
		                      room * sizeof(*set->ids));
		set->room = room;
	}
	set->ids[set->count++] = member_of(endpoint)->id;
}

/* --- The endpoints of a service --------------------------------------------------------------- */

/* The one endpoint of a numeric address or of a unix socket. Returns false for a host name. */
static bool add_fixed(struct endpoints *endpoints)
{
	const struct address *address = endpoints->address;
	struct sockaddr_storage key = {0};
	struct member *member;
	if (address->is_unix) {
		key.ss_family = AF_UNIX;
		member = member_add(endpoints, &key);
		require(strlen(address->host) < sizeof(member->endpoint.name));
		memcpy(member->endpoint.name, address->host, strlen(address->host) + 1);
		return true;
	}
	if (uv_ip4_addr(address->host, address->port, (struct sockaddr_in *)&key) != 0 &&
	    uv_ip6_addr(address->host, address->port, (struct sockaddr_in6 *)&key) != 0)
		return false;
	member = member_add(endpoints, &key);
	name_set(&member->endpoint);
	return true;
}

struct endpoints *endpoints_new(uv_loop_t *loop, const char *service, const struct address *address,
                                const struct endpoint_times *times, endpoints_cb *on_lookup,
                                void *context)
{
	struct endpoints *endpoints = calloc(1, sizeof(*endpoints));
	require(endpoints);
	*endpoints = (struct endpoints){
		.loop = loop,
		.service = service,
		.address = address,
		.times = times,
		.on_lookup = on_lookup,
		.context = context,
	};
	if (!add_fixed(endpoints))
		endpoints->resolver = resolver_new(loop, on_resolved, endpoints);
	return endpoints;
}

void endpoints_free(struct endpoints *endpoints)
{
	struct member *member, *next;
	if (!endpoints)
		return;
	HASH_ITER (hh, endpoints->members, member, next) {
		require(member->outstanding == 0 && TAILQ_EMPTY(&member->endpoint.kept));
		HASH_DEL(endpoints->members, member);
		free(member);
	}
	resolver_free(endpoints->resolver);
	free(endpoints);
}
