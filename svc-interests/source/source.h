/** svc-interests/source/: what an interest's addresses lead to. The addresses are those in its
 * context, and source_repo_url; the texts behind them are read as if the user had written them into
 * the context.
 *
 *     source.c           reading the sources of an interest that are due, and storing them
 *     source_links.c     finding the addresses
 *     arxiv_links.c      the papers that a text refers to
 *     page_text.c        the title and the main text of an HTML page
 *
 * A paper is looked up in svc-search. A repository of the code host is read through
 * svc-integrations where the account has access to it, else as any page. Pages come from addresses
 * that users name: they are never read from the private network (client/guard.h), wherever a name
 * or a redirect leads. */
#pragma once

#include "base/config.h"
#include "loop/request.h"

/** CODE_HOST_WEB_URL. */
extern const struct setting SOURCE_SETTINGS[];

/** Address of the code host's pages: `https://github.com`. */
const char *source_code_host(void);

/** Set up the HTML library; once, before threads start. */
void sources_init(void);

/** What a repository says of itself: its description, topics, language and README, or its page. */
struct source_text {
	const char *body;  /* at most 8 KiB; NULL with an error */
	const char *error; /* why it cannot be read, NULL: it was */
};

/** Read the repository `repo`, `owner/name`, at the address `url`, and store nothing. Suspends, for
 * 20 seconds at most. */
struct source_text source_repository_read(struct request *rq, const char *url, const char *repo);

/** Read the sources of an interest that were never read, were read more than a week ago, or could
 * not be read more than a day ago, at most ten, all at once. What cannot be read is noted and
 * raises nothing. Suspends, for half a minute at most. */
void sources_read(struct request *rq, const char *interest);
