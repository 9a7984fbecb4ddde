/* The source `arxiv`: an OAI-PMH server with records in arXiv's format. */
#include "harvest/oai.h"
#include "harvest/source.h"
#include "http/query.h"

#include <string.h>

#define ARXIV_DELAY_MS 3000

static const char *oai_url, *harvest_at;
static int64_t delay_ms;

const struct setting ARXIV_SETTINGS[] = {
	SETTING_TEXT(&oai_url, "OAI_URL", "https://oaipmh.arxiv.org/oai",
                     "URL of the OAI-PMH server that harvest reads."),
	SETTING_TEXT(&harvest_at, "HARVEST_AT", "22:30 America/New_York",
                     "When a day's harvest of arXiv begins, HH:MM and a time zone (default UTC); "
                     "at most 10 minutes later, at random."),
	SETTING_MS(&delay_ms, "HARVEST_DELAY", "3s", 0, 600000,
                   "Least time between two requests to arXiv, by all processes; not below 3 s for "
                   "arxiv.org."),
	SETTING_END,
};

static const char *first(struct arena *arena, const struct source *source attr_unused,
                         const struct source_cursor *cursor)
{
	struct buf url = {.arena = arena};
	buf_printf(&url, "%s?verb=ListRecords&metadataPrefix=arXiv&from=%s", oai_url, cursor->from);
	if (cursor->until)
		buf_printf(&url, "&until=%s", cursor->until);
	if (cursor->set)
		buf_printf(&url, "&set=%s", query_encode(arena, cursor->set));
	return url.data;
}

static const char *next(struct arena *arena, const struct source *source attr_unused,
                        const struct source_cursor *cursor attr_unused, const char *token)
{
	return arena_printf(arena, "%s?verb=ListRecords&resumptionToken=%s", oai_url,
	                    query_encode(arena, token));
}

static const char *at(void)
{
	return harvest_at;
}

static uint64_t delay(void)
{
	/* Its terms of use: at most one request in three seconds, for all machines together. */
	bool is_arxiv = strstr(oai_url, "://") && strcasestr(oai_url, "arxiv.org/");
	return MAX_OF((uint64_t)delay_ms, is_arxiv ? (uint64_t)ARXIV_DELAY_MS : 0);
}

/* noRecordsMatch is an empty list, unless the request has a token; other errors but that of a token
 * refuse the request. */
static enum err_code parse(struct arena *arena, const struct source *source attr_unused,
                           const char *text, size_t length, struct source_page *ret_page,
                           const char **ret_why)
{
	struct oai_page page;
	enum err_code code = oai_parse(arena, text, length, &page, ret_why);
	if (code)
		return code;
	*ret_page = page.list;
	if (!page.error)
		return ERR_NONE;
	ret_page->is_expired = strcmp(page.error, "badResumptionToken") == 0;
	ret_page->is_unmatched = strcmp(page.error, "noRecordsMatch") == 0;
	if (!ret_page->is_expired && !ret_page->is_unmatched)
		ret_page->refusal = arena_printf(arena, "%s: %s", page.error, page.error_text);
	return ERR_NONE;
}

const struct source ARXIV_SOURCE = {
	.name = "arxiv",
	.lease = "harvest.arxiv",
	.at = at,
	.first = first,
	.next = next,
	.delay_ms = delay,
	.parse = parse,
};
