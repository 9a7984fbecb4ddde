#include "base/tcp.h"

#include "base/base.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <sys/socket.h>

void tcp_detect_loss(int fd)
{
	static const struct {
		int level, name, value;
	} OPTIONS[] = {
		{IPPROTO_TCP, TCP_USER_TIMEOUT, TCP_LOST_MS},
		{IPPROTO_TCP, TCP_KEEPIDLE, TCP_PROBE_IDLE_S},
		{IPPROTO_TCP, TCP_KEEPINTVL, TCP_PROBE_INTERVAL_S},
		{IPPROTO_TCP, TCP_KEEPCNT, TCP_PROBES},
		{SOL_SOCKET, SO_KEEPALIVE, 1},
	};
	for (size_t i = 0; i < ARRAY_LEN(OPTIONS); i++)
		(void)setsockopt(fd, OPTIONS[i].level, OPTIONS[i].name, &OPTIONS[i].value,
		                 sizeof(OPTIONS[i].value));
}
