#include "source/source_links.h"

#include "base/base.h"
#include "base/url.h"
#include "product/repository_url.h"
#include "source/arxiv_links.h"

#include <string.h>
#include <strings.h>

/* The next address in the text; NULL: none. */
static const char *next_address(const char *text)
{
	for (; *text; text++)
		if (url_scheme_length(text))
			return text;
	return NULL;
}

/* Its length, without the punctuation of the sentence that it is in. Brackets stand only around an
 * IPv6 address. */
static size_t address_length(const char *text)
{
	static const char ENDS[] = " \t\r\n<>\"()[]{}|,\\^`";
	const char *host = text + url_scheme_length(text);
	size_t start = (size_t)(host - text) + (*host == '[' ? strcspn(host, "]") : 0);
	if (text[start] == ']')
		start++;
	size_t length = start + strcspn(text + start, ENDS);
	while (length > 0 && strchr(".:;!?'*_", text[length - 1]))
		length--;
	return length;
}

static bool is_listed(struct arena *arena, const struct source_links *links, const char *url)
{
	const char *canonical = url_canonical(arena, url);
	for (size_t i = 0; i < links->count; i++)
		if (strcmp(url_canonical(arena, links->links[i].url), canonical) == 0)
			return true;
	return false;
}

bool source_link_is_arxiv(const char *url)
{
	static const char *const HOSTS[] = {"arxiv.org/", "www.arxiv.org/", "export.arxiv.org/"};
	const char *host = url + url_scheme_length(url);
	for (size_t i = 0; i < ARRAY_LEN(HOSTS); i++)
		if (strncasecmp(host, HOSTS[i], strlen(HOSTS[i])) == 0)
			return true;
	return false;
}

/* `owner/name` of a repository's address; NULL: it is another, such as that of a file or an
 * issue. */
static const char *repository_of(struct arena *arena, const char *url, const char *code_host)
{
	const char *rest, *repo = repository_url_read(arena, code_host, url, &rest);
	if (!repo)
		return NULL;
	rest += *rest == '/';
	return *rest == '\0' || *rest == '?' || *rest == '#' ? repo : NULL;
}

static struct source_link classify(struct arena *arena, const char *url, const char *code_host)
{
	const char *paper = source_link_is_arxiv(url) ? arxiv_links_find(arena, url) : NULL;
	if (paper)
		return (struct source_link){SOURCE_PAPER, url, paper};
	const char *repository = repository_of(arena, url, code_host);
	return (struct source_link){repository ? SOURCE_REPOSITORY : SOURCE_PAGE, url, repository};
}

/* The next address of the text, in the arena; *text is behind it then. NULL: there is none. */
static const char *take_address(struct arena *arena, const char **text)
{
	const char *address = next_address(*text);
	if (!address)
		return NULL;
	size_t length = address_length(address);
	*text = address + MAX_OF(length, 1);
	return arena_strndup(arena, address, length);
}

void source_links_add(struct arena *arena, struct source_links *links, const char *text,
                      const char *code_host)
{
	const char *ignored, *url;
	while (links->count < SOURCE_LINKS_MAX && (url = take_address(arena, &text))) {
		size_t length = strlen(url);
		if (length <= SOURCE_LINK_MAX_BYTES && url_is_link(url, length, &ignored) &&
		    !is_listed(arena, links, url))
			links->links[links->count++] = classify(arena, url, code_host);
	}
}

bool source_text_names(struct arena *arena, const char *text, const char *repo,
                       const char *code_host)
{
	const char *url;
	while ((url = take_address(arena, &text))) {
		struct source_link link = classify(arena, url, code_host);
		if (link.kind == SOURCE_REPOSITORY && strcasecmp(link.name, repo) == 0)
			return true;
	}
	return false;
}
