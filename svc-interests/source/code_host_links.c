#include "source/code_host_links.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define NAME_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
#define SUFFIX     ".git"

/* The code host's own pages, which look like owners. */
static const char *const PAGES[] = {"about",  "apps",     "collections", "explore",  "features",
                                    "login",  "orgs",     "search",      "settings", "sponsors",
                                    "topics", "trending", NULL};

static bool is_page(const char *owner, size_t length)
{
	for (const char *const *page = PAGES; *page; page++)
		if (strlen(*page) == length && strncasecmp(*page, owner, length) == 0)
			return true;
	return false;
}

/* The part of `https://github.com/` that a link may begin with: the host, with its port. */
static const char *host_of(struct arena *arena, const char *web_url)
{
	const char *scheme = strstr(web_url, "://");
	const char *host = scheme ? scheme + 3 : web_url;
	return arena_strndup(arena, host, strcspn(host, "/"));
}

/* Whether the host at `at` is a whole name, and not the end of another. */
static bool is_whole(const char *text, const char *at)
{
	if (at - text >= 4 && strncasecmp(at - 4, "www.", 4) == 0)
		at -= 4;
	return at == text || !(isalnum((unsigned char)at[-1]) || strchr(".-_@", at[-1]));
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

const char *code_host_repo_name(struct arena *arena, const char *path)
{
	size_t owner = strspn(path, NAME_CHARS);
	if (!owner || path[owner] != '/' || is_page(path, owner))
		return NULL;
	size_t name = name_length(path + owner + 1);
	return name ? arena_strndup(arena, path, owner + 1 + name) : NULL;
}

static bool is_listed(const char *const *repos, size_t count, const char *repo)
{
	for (size_t i = 0; i < count; i++)
		if (strcasecmp(repos[i], repo) == 0)
			return true;
	return false;
}

size_t code_host_links_find(struct arena *arena, const char *web_url, const char *text,
                            const char *repos[], size_t max)
{
	const char *host = host_of(arena, web_url);
	size_t length = strlen(host), count = 0;
	for (const char *at = text; length && count < max && (at = strcasestr(at, host)); at++) {
		if (at[length] != '/' || !is_whole(text, at))
			continue;
		const char *repo = code_host_repo_name(arena, at + length + 1);
		if (repo && !is_listed(repos, count, repo))
			repos[count++] = repo;
	}
	return count;
}
