#include "proxy/https_redirect.h"

#include "base/base.h"

#include <string.h>

static const char *const PROBES[] = {"/healthz", "/readyz"};

static bool is_probe(const struct http_head *head)
{
	for (size_t i = 0; i < ARRAY_LEN(PROBES); i++)
		if (strlen(PROBES[i]) == head->path_length &&
		    strncmp(PROBES[i], head->target, head->path_length) == 0)
			return true;
	return false;
}

const char *https_location(const char *origin, const struct http_exchange *x)
{
	if (!origin || strcmp(x->scheme, "https") == 0 || is_probe(&x->head))
		return NULL;
	return arena_printf(x->arena, "%s%s", origin, x->head.target);
}
