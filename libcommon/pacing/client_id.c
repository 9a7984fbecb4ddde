#include "pacing/client_id.h"

#include "base/ip.h"

#include <string.h>

struct uuid client_id(const char *address)
{
	struct ip ip;
	struct uuid client = {{[15] = 1}};
	if (!ip_parse(address, &ip))
		return client;
	memcpy(client.bytes, ip.bytes, ip_is_v4(&ip) ? sizeof(ip.bytes) : sizeof(ip.bytes) / 2);
	return client;
}
