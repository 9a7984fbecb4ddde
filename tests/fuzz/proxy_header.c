/* The PROXY protocol: a header that is complete ends within the data, names an address of the
 * Internet, `unknown` or none, and every shorter part of it is waited for. */
#include "balancer/proxy_protocol.h"
#include "base/base.h"
#include "base/ip.h"
#include "fuzz.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct proxy_header header, other;
	struct ip ip;
	const char *text = (const char *)data;
	if (proxy_header_parse(text, size, &header) != PROXY_HEADER_COMPLETE)
		return 0;
	require(header.length > 0 && header.length <= size && header.length <= PROXY_HEADER_MAX);
	require(!*header.client || strcmp(header.client, PROXY_CLIENT_UNKNOWN) == 0 ||
	        ip_parse(header.client, &ip));
	for (size_t length = 0; length < header.length; length++)
		require(proxy_header_parse(text, length, &other) == PROXY_HEADER_PARTIAL);
	return 0;
}
