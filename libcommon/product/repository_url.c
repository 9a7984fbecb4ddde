#include "product/repository_url.h"

#include "base/url.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define NAME_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
#define SUFFIX     ".git"

/* The code host's own pages that have others below them, where a repository has its owner. Nobody
 * can register these names at GitHub. */
static const char *const PAGES[] = {
	"about",      "account",       "advisories",  "apps",        "blog",
	"codespaces", "collections",   "contact",     "copilot",     "customer-stories",
	"dashboard",  "discussions",   "edu",         "enterprise",  "enterprises",
	"events",     "explore",       "features",    "issues",      "join",
	"login",      "logout",        "marketplace", "mobile",      "new",
	"nonprofit",  "notifications", "oauth",       "open-source", "organizations",
	"orgs",       "partners",      "plans",       "pricing",     "projects",
	"pulls",      "readme",        "resources",   "search",      "security",
	"sessions",   "settings",      "signup",      "site",        "solutions",
	"sponsors",   "stars",         "team",        "teams",       "topics",
	"trending",   "users",         "watching",    NULL,
};

static bool is_page(const char *owner, size_t length)
{
	for (const char *const *page = PAGES; *page; page++)
		if (strlen(*page) == length && strncasecmp(*page, owner, length) == 0)
			return true;
	return false;
}

/* `github.com`, with the port of the code host's address. */
static const char *host_of(struct arena *arena, const char *web_url)
{
	const char *host = web_url + url_scheme_length(web_url);
	return arena_strndup(arena, host, strcspn(host, "/"));
}

/* Length of a repository's name, without what ends a sentence or a clone URL. */
static size_t name_length(const char *name)
{
	size_t length = strspn(name, NAME_CHARS), suffix = strlen(SUFFIX);
	while (length && name[length - 1] == '.')
		length--;
	if (length >= suffix && strncasecmp(name + length - suffix, SUFFIX, suffix) == 0)
		length -= suffix;
	return length;
}

const char *repository_path_read(struct arena *arena, const char *path)
{
	size_t owner = strspn(path, NAME_CHARS);
	if (!isalnum((unsigned char)path[0]) || path[owner] != '/' || is_page(path, owner))
		return NULL;
	size_t name = name_length(path + owner + 1);
	return name ? arena_strndup(arena, path, owner + 1 + name) : NULL;
}

const char *repository_url_read(struct arena *arena, const char *web_url, const char *url,
                                const char **ret_rest)
{
	const char *host = host_of(arena, web_url), *at = url + url_scheme_length(url);
	if (strncasecmp(at, "www.", 4) == 0)
		at += 4;
	if (at == url || !*host || strncasecmp(at, host, strlen(host)) != 0 ||
	    at[strlen(host)] != '/')
		return NULL;
	const char *path = at + strlen(host) + 1, *repo = repository_path_read(arena, path);
	if (!repo)
		return NULL;
	*ret_rest = path + strlen(repo);
	if (strncasecmp(*ret_rest, SUFFIX, strlen(SUFFIX)) == 0)
		*ret_rest += strlen(SUFFIX);
	return repo;
}

static bool is_listed(const char *const *repos, size_t count, const char *repo)
{
	for (size_t i = 0; i < count; i++)
		if (strcasecmp(repos[i], repo) == 0)
			return true;
	return false;
}

size_t repository_urls_find(struct arena *arena, const char *web_url, const char *text,
                            const char *repos[], size_t max)
{
	const char *host = host_of(arena, web_url), *rest = text;
	size_t count = 0;
	while (count < max && (rest = url_host_find(text, rest, host))) {
		const char *repo = *rest == '/' ? repository_path_read(arena, rest + 1) : NULL;
		if (repo && !is_listed(repos, count, repo))
			repos[count++] = repo;
	}
	return count;
}
