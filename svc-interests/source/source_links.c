#include "source/source_links.h"

#include "base/base.h"
#include "base/url.h"
#include "source/arxiv_links.h"
#include "source/code_host_links.h"

#include <string.h>
#include <strings.h>

static bool begins_with(const char *text, const char *prefix)
{
	return strncasecmp(text, prefix, strlen(prefix)) == 0;
}

/* The next address in the text; NULL: none. */
static const char *next_address(const char *text)
{
	for (; *text; text++)
		if (begins_with(text, "http://") || begins_with(text, "https://"))
			return text;
	return NULL;
}

/* Its length, without the punctuation of the sentence that it is in. Brackets stand only around an
 * IPv6 address. */
static size_t address_length(const char *text)
{
	static const char ENDS[] = " \t\r\n<>\"()[]{}|,\\^`";
	const char *host = strstr(text, "://") + 3;
	size_t start = (size_t)(host - text) + (*host == '[' ? strcspn(host, "]") : 0);
	if (text[start] == ']')
		start++;
	size_t length = start + strcspn(text + start, ENDS);
	while (length > 0 && strchr(".:;!?'*_", text[length - 1]))
		length--;
	return length;
}

static bool is_listed(const struct source_links *links, const char *url)
{
	for (size_t i = 0; i < links->count; i++)
		if (strcmp(links->links[i].url, url) == 0)
			return true;
	return false;
}

static bool is_arxiv(const char *url)
{
	const char *host = strstr(url, "://") + 3;
	return begins_with(host, "arxiv.org/") || begins_with(host, "www.arxiv.org/") ||
	       begins_with(host, "export.arxiv.org/");
}

/* `owner/name` of a repository's address; NULL: it is another, such as that of a file or an
 * issue. */
static const char *repository_of(struct arena *arena, const char *url, const char *code_host)
{
	const char *repo[1];
	if (!begins_with(url, code_host) || url[strlen(code_host)] != '/' ||
	    code_host_links_find(arena, code_host, url, repo, 1) != 1)
		return NULL;
	const char *rest = url + strlen(code_host) + 1 + strlen(repo[0]);
	if (begins_with(rest, ".git"))
		rest += strlen(".git");
	rest += *rest == '/';
	return *rest == '\0' || *rest == '?' || *rest == '#' ? repo[0] : NULL;
}

static struct source_link classify(struct arena *arena, const char *url, const char *code_host)
{
	const char *paper = is_arxiv(url) ? arxiv_links_find(arena, url) : NULL;
	if (paper)
		return (struct source_link){SOURCE_PAPER, url, paper};
	const char *repository = repository_of(arena, url, code_host);
	return (struct source_link){repository ? SOURCE_REPOSITORY : SOURCE_PAGE, url, repository};
}

void source_links_add(struct arena *arena, struct source_links *links, const char *text,
                      const char *code_host)
{
	const char *ignored;
	while (links->count < SOURCE_LINKS_MAX && (text = next_address(text))) {
		size_t length = address_length(text);
		const char *url = arena_strndup(arena, text, length);
		if (length <= SOURCE_LINK_MAX_BYTES && url_is_link(url, length, &ignored) &&
		    !is_listed(links, url))
			links->links[links->count++] = classify(arena, url, code_host);
		text += MAX_OF(length, 1);
	}
}
