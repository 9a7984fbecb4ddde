/** A free port of the loopback interface, for a server that the test starts. */
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

/* Below the ephemeral ports: an outgoing connection could take the port while the server is down.
 * Processes that run at the same time start at different ports. */
#define FREE_PORT_FIRST 10000
#define FREE_PORT_COUNT 10000

static inline uint16_t free_port(void)
{
	static unsigned turn;
	for (;;) {
		unsigned offset = ((unsigned)getpid() * 7 + turn++) % FREE_PORT_COUNT;
		uint16_t port = (uint16_t)(FREE_PORT_FIRST + offset);
		struct sockaddr_in address = {.sin_family = AF_INET,
		                              .sin_port = htons(port),
		                              .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		int failed = bind(fd, (struct sockaddr *)&address, sizeof(address));
		close(fd);
		if (failed == 0)
			return port;
	}
}
