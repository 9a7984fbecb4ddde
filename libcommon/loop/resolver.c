#include "loop/resolver.h"

#include "base/base.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One call of getaddrinfo(). A separate allocation, since it may outlive its resolver. */
struct lookup {
	uv_getaddrinfo_t request;
	struct resolver *resolver; /* NULL: stopped */
};

struct resolver {
	uv_loop_t *loop;
	resolver_cb *cb;
	void *context;
	struct lookup *lookup; /* running; NULL: none */
};

struct resolver *resolver_new(uv_loop_t *loop, resolver_cb *cb, void *context)
{
	struct resolver *resolver = calloc(1, sizeof(*resolver));
	require(resolver);
	*resolver = (struct resolver){.loop = loop, .cb = cb, .context = context};
	return resolver;
}

void resolver_free(struct resolver *resolver)
{
	if (!resolver)
		return;
	resolver_stop(resolver);
	free(resolver);
}

static struct sockaddr_storage *addresses_copy(const struct addrinfo *infos, int *ret_count)
{
	size_t count = 0;
	for (const struct addrinfo *info = infos; info; info = info->ai_next)
		count++;
	struct sockaddr_storage *addresses = calloc(count + 1, sizeof(*addresses));
	require(addresses);
	*ret_count = 0;
	for (const struct addrinfo *info = infos; info; info = info->ai_next)
		memcpy(&addresses[(*ret_count)++], info->ai_addr, info->ai_addrlen);
	return addresses;
}

static void on_resolved(uv_getaddrinfo_t *request, int status, struct addrinfo *infos)
{
	struct lookup *lookup = CONTAINER_OF(request, struct lookup, request);
	struct resolver *resolver = lookup->resolver;
	int count = 0;
	struct sockaddr_storage *addresses = addresses_copy(infos, &count);
	uv_freeaddrinfo(infos);
	free(lookup);
	if (resolver) {
		resolver->lookup = NULL;
		if (status == 0 && count == 0)
			status = UV_EAI_NODATA;
		resolver->cb(resolver->context, status, addresses, count);
	}
	free(addresses);
}

int resolver_start(struct resolver *resolver, const char *host, uint16_t port)
{
	static const struct addrinfo HINTS = {
		.ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICSERV | AI_ADDRCONFIG,
	};
	char service[8];
	snprintf(service, sizeof(service), "%u", (unsigned)port);
	require(!resolver->lookup);
	struct lookup *lookup = calloc(1, sizeof(*lookup));
	require(lookup);
	lookup->resolver = resolver;
	int code = uv_getaddrinfo(resolver->loop, &lookup->request, on_resolved, host, service,
	                          &HINTS);
	if (code != 0) {
		free(lookup);
		return code;
	}
	resolver->lookup = lookup;
	return 0;
}

void resolver_stop(struct resolver *resolver)
{
	if (!resolver->lookup)
		return;
	resolver->lookup->resolver = NULL;
	/* Fails if a thread already runs it. libuv calls on_resolved() in either case. */
	uv_cancel((uv_req_t *)&resolver->lookup->request);
	resolver->lookup = NULL;
}

bool resolver_is_busy(const struct resolver *resolver)
{
	return resolver->lookup != NULL;
}
