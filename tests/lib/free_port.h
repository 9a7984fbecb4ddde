/** A port of the loopback that nobody listens on, for a server of the test's own. */
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

/* Below those that outgoing connections take theirs from: one of them could have it while the server is
 * down. Processes that run at once look in different places. */
#define FREE_PORT_FIRST 10000
#define FREE_PORT_COUNT 10000

static inline uint16_t free_port(void)
{
	static unsigned turn;
	for (;;) {
		unsigned place = ((unsigned)getpid() * 7 + turn++) % FREE_PORT_COUNT;
		uint16_t port = (uint16_t)(FREE_PORT_FIRST + place);
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
