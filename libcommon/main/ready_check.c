#include "main/ready_check.h"

#include "base/address.h"
#include "base/base.h"

#include <curl/curl.h>

#include <stdio.h>
#include <string.h>

#define TIMEOUT_MS 3000L

/* The address of /readyz. An unspecified address to listen on, 0.0.0.0, leads to this machine. */
static const char *ready_url(struct arena *arena, const struct address *address)
{
	if (address->is_unix)
		return "http://localhost/readyz";
	bool is_ipv6 = strchr(address->host, ':');
	return arena_printf(arena, is_ipv6 ? "http://[%s]:%d/readyz" : "http://%s:%d/readyz",
	                    address->host, (int)address->port);
}

int ready_check(const char *listen)
{
	struct arena *arena = arena_new();
	struct address address;
	require(address_parse(arena, listen, &address) == ERR_NONE);
	CURL *easy = curl_easy_init();
	require(easy);
	curl_easy_setopt(easy, CURLOPT_URL, ready_url(arena, &address));
	if (address.is_unix)
		curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, address.host);
	curl_easy_setopt(easy, CURLOPT_PROXY, ""); /* whatever the environment names */
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, TIMEOUT_MS);
	CURLcode code = curl_easy_perform(easy); /* writes the body to standard output */
	long status = 0;
	curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
	if (code)
		fprintf(stderr, "%s: %s\n", listen, curl_easy_strerror(code));
	else
		putchar('\n');
	curl_easy_cleanup(easy);
	arena_free(arena);
	return !code && status == 200 ? 0 : 1;
}
