#include "notify/endpoint/endpoint_kind.h"

#include "base/base.h"

#include <string.h>

const char *const ENDPOINT_KINDS[] = {
	[ENDPOINT_WEBHOOK] = "webhook",
	[ENDPOINT_SLACK] = "slack",
	[ENDPOINT_EMAIL] = "email",
	NULL,
};

enum endpoint_kind endpoint_kind_of(const char *name)
{
	int kind = 0;
	while (strcmp(ENDPOINT_KINDS[kind], name) != 0)
		require(ENDPOINT_KINDS[++kind]);
	return (enum endpoint_kind)kind;
}
