#include "client/guard.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

static const struct ip_networks *allowed; /* NULL: none */

void fetch_guard_allow(const struct ip_networks *networks)
{
	allowed = networks;
}

bool fetch_guard_lists(const struct ip *ip)
{
	return allowed && ip_networks_have(allowed, ip);
}

bool fetch_guard_lists_any(void)
{
	return allowed && !ip_networks_empty(allowed);
}

/* Whether the current hop may connect to `ip` and `port`. The first hop of FETCH_GUARD_REDIRECTS
 * may connect to any address, and later ones to that address and port again: the settings chose
 * it. */
static bool permits(const struct transfer *transfer, const struct ip *ip, int port)
{
	long redirects = 0;
	curl_easy_getinfo(transfer->easy, CURLINFO_REDIRECT_COUNT, &redirects);
	if (transfer->guard == FETCH_GUARD_REDIRECTS &&
	    (redirects == 0 ||
	     (port == transfer->first_port && memcmp(ip, &transfer->first_ip, sizeof(*ip)) == 0)))
		return true;
	return (ip_is_public(ip) && transfer->guard != FETCH_GUARD_LISTED) || fetch_guard_lists(ip);
}

static int port_of(const struct sockaddr *address)
{
	return ntohs(address->sa_family == AF_INET6
	                     ? ((const struct sockaddr_in6 *)address)->sin6_port
	                     : ((const struct sockaddr_in *)address)->sin_port);
}

/* CURLOPT_OPENSOCKETFUNCTION. */
static curl_socket_t on_open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct transfer *transfer = arg;
	struct ip ip;
	(void)purpose;
	if (!ip_of_socket(&address->addr, &ip) ||
	    !permits(transfer, &ip, port_of(&address->addr))) {
		transfer->is_refused = true;
		return CURL_SOCKET_BAD;
	}
	return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* CURLOPT_PREREQFUNCTION: the connection is there, the request is not sent yet. */
static int on_before_request(void *arg, char *peer_ip, char *own_ip, int peer_port, int own_port)
{
	struct transfer *transfer = arg;
	struct ip ip;
	(void)own_ip, (void)own_port;
	if (!ip_parse(peer_ip, &ip) || !permits(transfer, &ip, peer_port)) {
		transfer->is_refused = true;
		return CURL_PREREQFUNC_ABORT;
	}
	if (!transfer->first_port) {
		transfer->first_ip = ip;
		transfer->first_port = peer_port;
	}
	return CURL_PREREQFUNC_OK;
}

void fetch_guard_set(struct transfer *transfer, enum fetch_guard guard)
{
	CURL *easy = transfer->easy;
	transfer->guard = guard;
	if (guard == FETCH_GUARD_NONE)
		return;
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open_socket);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, transfer);
	curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_before_request);
	curl_easy_setopt(easy, CURLOPT_PREREQDATA, transfer);
	if (guard >= FETCH_GUARD_ALL) /* a proxy would choose the address */
		curl_easy_setopt(easy, CURLOPT_PROXY, "");
}
