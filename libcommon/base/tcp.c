#include "base/tcp.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

static void set(int fd, int level, int name, int value)
{
	(void)setsockopt(fd, level, name, &value, sizeof(value));
}

void tcp_probe(int fd)
{
	set(fd, IPPROTO_TCP, TCP_KEEPIDLE, TCP_PROBE_IDLE_S);
	set(fd, IPPROTO_TCP, TCP_KEEPINTVL, TCP_PROBE_INTERVAL_S);
	set(fd, IPPROTO_TCP, TCP_KEEPCNT, TCP_PROBES);
	set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
}

void tcp_detect_loss(int fd)
{
	set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, TCP_LOST_MS);
	tcp_probe(fd);
}

bool tcp_is_loss(int error)
{
	return error != ECONNRESET && error != EPIPE;
}
