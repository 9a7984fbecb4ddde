#include "base/base.h"
#include "http/internal.h"

#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG   1024
#define UNIX_MODE 0660

/* Close without touching errno, which tells what went wrong. */
static enum err_code give_up(int fd)
{
	int saved = errno;
	if (fd >= 0)
		close(fd);
	errno = saved;
	return ERR_UNAVAILABLE;
}

static int socket_new(int family)
{
	return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

static enum err_code listen_tcp_at(const struct addrinfo *info, int *ret_fd)
{
	static const int ON = 1;
	int fd = socket_new(info->ai_family);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &ON, sizeof(ON)) != 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &ON, sizeof(ON)) != 0 ||
	    bind(fd, info->ai_addr, info->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0)
		return give_up(fd);
	*ret_fd = fd;
	return ERR_NONE;
}

static enum err_code listen_tcp(const struct address *address, int *ret_fd)
{
	const struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
	};
	struct addrinfo *infos;
	char port[8];
	snprintf(port, sizeof(port), "%u", address->port);
	errno = 0;
	int failure = getaddrinfo(address->host, port, &hints, &infos);
	if (failure != 0) {
		if (failure != EAI_SYSTEM)
			errno = EADDRNOTAVAIL;
		return ERR_UNAVAILABLE;
	}
	enum err_code code = ERR_UNAVAILABLE;
	for (struct addrinfo *info = infos; info != NULL && code != ERR_NONE; info = info->ai_next)
		code = listen_tcp_at(info, ret_fd);
	int saved = errno;
	freeaddrinfo(infos);
	errno = saved;
	return code;
}

/* Remove a socket file that nobody listens on; false with errno set when the path is in use. */
static bool unix_clear(const struct sockaddr_un *name)
{
	struct stat st;
	if (lstat(name->sun_path, &st) != 0)
		return errno == ENOENT;
	errno = EADDRINUSE;
	if (!S_ISSOCK(st.st_mode))
		return false;
	int fd = socket_new(AF_UNIX);
	if (fd < 0)
		return false;
	bool is_stale = connect(fd, (const struct sockaddr *)name, sizeof(*name)) != 0 &&
	                errno == ECONNREFUSED;
	close(fd);
	errno = EADDRINUSE;
	return is_stale && unlink(name->sun_path) == 0;
}

static enum err_code listen_unix(const struct address *address, int *ret_fd)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	size_t length = strlen(address->host);
	require(length < sizeof(name.sun_path));
	memcpy(name.sun_path, address->host, length);
	int fd = socket_new(AF_UNIX);
	if (fd < 0 || !unix_clear(&name) ||
	    bind(fd, (const struct sockaddr *)&name, sizeof(name)) != 0 ||
	    chmod(name.sun_path, UNIX_MODE) != 0 || listen(fd, BACKLOG) != 0)
		return give_up(fd);
	*ret_fd = fd;
	return ERR_NONE;
}

enum err_code http_listen_open(const struct address *address, int *ret_fd)
{
	return address->is_unix ? listen_unix(address, ret_fd) : listen_tcp(address, ret_fd);
}
