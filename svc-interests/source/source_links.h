/** Finds the addresses in a text. Pure logic. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

#define SOURCE_LINKS_MAX      10
#define SOURCE_LINK_MAX_BYTES 2048

enum source_kind { SOURCE_PAPER, SOURCE_REPOSITORY, SOURCE_PAGE };

struct source_link {
	enum source_kind kind;
	const char *url; /* as it was written, without punctuation after it */
	const char
		*name; /* JSON array with the arXiv id of a paper; `owner/name` of a repository */
};

struct source_links {
	struct source_link links[SOURCE_LINKS_MAX];
	size_t count;
};

/** Whether the address is on a host of arXiv. */
bool source_link_is_arxiv(const char *url);

/** Add the http and https addresses of `text` that are not listed yet, in order, until the list is
 * full. Repositories are those below `code_host`, such as `https://github.com`. */
void source_links_add(struct arena *arena, struct source_links *links, const char *text,
                      const char *code_host);

/** Whether the text has a link to the repository or below it, after however many others. */
bool source_text_names(struct arena *arena, const char *text, const char *repo,
                       const char *code_host);
