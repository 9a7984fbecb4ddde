/** Host names of tests. A test program that has this file among its sources, or a process that
 * loads it by LD_PRELOAD, looks the names of one file up there; FAKE_DNS is its path. It is read at
 * each look-up. A line is a name and its addresses; a name without addresses is unknown:
 *
 *     svc-search.test 127.0.0.2 127.0.0.3
 *
 * All other names go to the C library. */
#include <dlfcn.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES 8192

typedef int getaddrinfo_fn(const char *node, const char *service, const struct addrinfo *hints,
                           struct addrinfo **result);

/* Look each address up and link the results: glibc's freeaddrinfo() frees one node after the
 * other. */
static int resolve_all(char *addresses, const char *service, const struct addrinfo *hints,
                       getaddrinfo_fn *real, struct addrinfo **result)
{
	struct addrinfo **tail = result;
	char *rest = addresses, *one;
	*result = NULL;
	while ((one = strsep(&rest, " \n"))) {
		if (!*one)
			continue;
		int code = real(one, service, hints, tail);
		if (code != 0)
			return code;
		while (*tail)
			tail = &(*tail)->ai_next;
	}
	return *result ? 0 : EAI_NONAME;
}

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                struct addrinfo **result)
{
	getaddrinfo_fn *real = (getaddrinfo_fn *)dlsym(RTLD_NEXT, "getaddrinfo");
	const char *path = getenv("FAKE_DNS");
	FILE *file = path && node ? fopen(path, "re") : NULL;
	char line[LINE_MAX_BYTES];
	while (file && fgets(line, sizeof(line), file)) {
		char *addresses = line, *name = strsep(&addresses, " \n");
		if (strcmp(name, node) != 0)
			continue;
		fclose(file);
		return resolve_all(addresses ? addresses : name + strlen(name), service, hints,
		                   real, result);
	}
	if (file)
		fclose(file);
	return real(node, service, hints, result);
}
