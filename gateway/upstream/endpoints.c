#include "upstream/endpoints.h"

#include "base/log.h"

#include <string.h>

#define RESOLVE_MS 5000
#define SILENT_MS  2000

static void endpoints_set(struct endpoints *endpoints, const struct sockaddr_storage *addresses,
                          int count)
{
	struct endpoint old[ENDPOINTS_MAX];
	int old_count = endpoints->count;
	memcpy(old, endpoints->list, sizeof(old));
	for (int i = 0; i < count; i++) {
		struct endpoint endpoint = {.address = addresses[i]};
		/* A silent endpoint that is still listed stays silent. */
		for (int j = 0; j < old_count; j++)
			if (memcmp(&old[j].address, &addresses[i], sizeof(addresses[i])) == 0)
				endpoint.silent_until_ms = old[j].silent_until_ms;
		endpoints->list[i] = endpoint;
	}
	endpoints->count = count;
	endpoints->resolved_ms = uv_now(endpoints->loop);
}

static void on_lookup(void *context, int status, const struct sockaddr_storage *addresses,
                      int count)
{
	struct endpoints *endpoints = context;
	if (status == 0)
		endpoints_set(endpoints, addresses, count);
	else
		log_warn(LOG_GROUP_PROXY, "cannot resolve the service's host name",
		         f_text("service", endpoints->service),
		         f_text("reason", uv_strerror(status)));
	endpoints->on_resolved(endpoints->context, status);
}

static bool parse_numeric(const struct address *address, struct sockaddr_storage *ret_address)
{
	return uv_ip4_addr(address->host, address->port, (struct sockaddr_in *)ret_address) == 0 ||
	       uv_ip6_addr(address->host, address->port, (struct sockaddr_in6 *)ret_address) == 0;
}

void endpoints_init(struct endpoints *endpoints, uv_loop_t *loop, const char *service,
                    const struct address *address, endpoints_cb *on_resolved, void *context)
{
	*endpoints = (struct endpoints){
		.loop = loop,
		.service = service,
		.address = address,
		.on_resolved = on_resolved,
		.context = context,
	};
	if (address->is_unix || parse_numeric(address, &endpoints->list[0].address))
		endpoints->count = 1;
	else
		endpoints->resolver = resolver_new(loop, on_lookup, endpoints);
}

void endpoints_done(struct endpoints *endpoints)
{
	resolver_free(endpoints->resolver);
	endpoints->resolver = NULL;
}

void endpoints_refresh(struct endpoints *endpoints)
{
	bool is_fresh = endpoints->resolved_ms != 0 &&
	                uv_now(endpoints->loop) - endpoints->resolved_ms < RESOLVE_MS;
	if (!endpoints->resolver || is_fresh || resolver_is_busy(endpoints->resolver))
		return;
	/* When the lookup cannot start, the old addresses stay in use. */
	(void)resolver_start(endpoints->resolver, endpoints->address->host,
	                     endpoints->address->port);
}

bool endpoints_is_pending(const struct endpoints *endpoints)
{
	return endpoints->count == 0 && resolver_is_busy(endpoints->resolver);
}

int endpoints_next(struct endpoints *endpoints, unsigned tried)
{
	uint64_t now_ms = uv_now(endpoints->loop);
	for (int i = 0; i < endpoints->count; i++) {
		int index = (endpoints->next + i) % endpoints->count;
		if (!(tried & 1U << index) && endpoints->list[index].silent_until_ms <= now_ms) {
			endpoints->next = index + 1;
			return index;
		}
	}
	return -1;
}

const struct sockaddr *endpoints_address(const struct endpoints *endpoints, int index)
{
	return (const struct sockaddr *)&endpoints->list[index].address;
}

void endpoints_connect_failed(struct endpoints *endpoints, int index, bool is_silent)
{
	endpoints->resolved_ms = 0;
	if (is_silent)
		endpoints->list[index].silent_until_ms = uv_now(endpoints->loop) + SILENT_MS;
}
