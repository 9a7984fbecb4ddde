/* `svc-search harvest`: reads the records of an OAI-PMH server page by page, with a pause between
 * the pages, and waits as long as Retry-After says. */
#include "base/crypto.h"
#include "base/timefmt.h"
#include "client/fetch.h"
#include "http/query.h"
#include "import.sql.h"
#include "ingest/arxiv_id.h"
#include "ingest/import.h"
#include "ingest/oai.h"
#include "loop/wait.h"
#include "pg/pg.h"
#include "service/process.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char *oai_url;
static int64_t harvest_delay_ms; /* between two requests */

const struct setting HARVEST_SETTINGS[] = {
	SETTING_TEXT(&oai_url, "OAI_URL", "https://oaipmh.arxiv.org/oai",
                     "URL of the OAI-PMH server that harvest reads."),
	SETTING_MS(&harvest_delay_ms, "HARVEST_DELAY", "3s", 0, 600000,
                   "Pause between two requests of harvest; arXiv requires 3 s."),
	SETTING_END,
};

#define ATTEMPTS_MAX     8
#define RESTARTS_MAX     3
#define TOKEN_HASH_BYTES 8
#define PAGE_MAX_BYTES   ((size_t)64 * 1024 * 1024)

struct harvest {
	const char *from, *until, *set; /* until and set may be NULL */
	size_t withdrawn;               /* papers */
	size_t read;                    /* records of the list so far */
	struct buf tokens;              /* hashes of the list's resumption tokens so far */
	int restarts;                   /* how often the list was restarted */
	long complete;                  /* records of the whole list; 0: not given */
};

static const char *first_url(struct request *rq, const struct harvest *harvest)
{
	struct buf url = {.arena = rq->arena};
	buf_printf(&url, "%s?verb=ListRecords&metadataPrefix=arXiv&from=%s", oai_url,
	           harvest->from);
	if (harvest->until)
		buf_printf(&url, "&until=%s", harvest->until);
	if (harvest->set)
		buf_printf(&url, "&set=%s", query_encode(rq->arena, harvest->set));
	return url.data;
}

/* Fetch the page at `url`. Failures of the network and of the server are retried with backoff. */
static struct fetch_response *get_page(struct request *rq, const char *url)
{
	struct fetch_call call = {
		.url = url,
		.response_max_bytes = PAGE_MAX_BYTES,
		.timeout_ms = 120000,
		.follow_redirects = true,
		.guard = FETCH_GUARD_REDIRECTS,
	};
	const char *why = NULL;
	for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
		struct fetch_response *answer = NULL;
		enum err_code code = fetch_try(rq, &call, &answer);
		if (!code && answer->status == 200)
			return answer;
		if (code == ERR_FORBIDDEN)
			raise_error(rq, ERR_UPSTREAM,
			            "%s redirects to a private network, which FETCH_ALLOW does not "
			            "list",
			            oai_url);
		if (!code && answer->status < 500 && answer->status != 429)
			raise_error(rq, ERR_UPSTREAM, "%s answered %d", url, answer->status);
		uint64_t wait_ms = code ? 0 : fetch_retry_after_ms(answer);
		why = code ? err_info(code)->title : http_reason(answer->status);
		if (!wait_ms)
			wait_ms = (uint64_t)harvest_delay_ms << attempt;
		fprintf(stderr, "%s: retrying in %.0f s\n", why, (double)wait_ms / 1000);
		fiber_sleep(rq, wait_ms);
	}
	raise_error(rq, ERR_UPSTREAM, "cannot read %s: %s", url, why);
}

static void withdraw(struct request *rq, struct harvest *harvest, const struct oai_page *page)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *ids = yyjson_mut_arr(doc);
	const struct oai_record *record;
	STAILQ_FOREACH (record, &page->records, entry) {
		char id[ARXIV_ID_MAX + 1];
		if (record->is_deleted && record->paper.id && arxiv_id_parse(record->paper.id, id))
			yyjson_mut_arr_add_strcpy(doc, ids, id);
	}
	if (yyjson_mut_arr_size(ids) == 0)
		return;
	struct pg_rows *rows =
		pg_query(rq, ASSET_WITHDRAW_SQL, pg_text(json_write_mut(rq->arena, ids, NULL)));
	harvest->withdrawn += (size_t)pg_value_int(rows, 0, 0);
}

static void store_page(struct request *rq, struct harvest *harvest, struct import *import,
                       const struct oai_page *page)
{
	const char *why;
	const struct oai_record *record;
	STAILQ_FOREACH (record, &page->records, entry) {
		const char *name = record->paper.id ? record->paper.id : "a record without an id";
		if (record->fault)
			import_skip(import, name, record->fault);
		else if (!record->is_deleted && !import_add(import, &record->paper, &why))
			import_skip(import, name, why);
	}
	import_flush(import);
	withdraw(rq, harvest, page);
	harvest->read += page->count;
	if (page->complete)
		harvest->complete = page->complete;
	if (harvest->complete)
		fprintf(stderr, "%zu of %ld records\n", harvest->read, harvest->complete);
	else
		fprintf(stderr, "%zu records\n", harvest->read);
}

/* The resumption token has expired: restart the list. Papers stored already do not differ and are
 * not written again. Returns the URL of the first page. */
static const char *restart_list(struct request *rq, struct harvest *harvest)
{
	if (harvest->restarts++ == RESTARTS_MAX)
		raise_error(rq, ERR_UPSTREAM,
		            "resumption tokens keep expiring; harvest fewer days at once with "
		            "--until");
	fprintf(stderr, "the resumption token has expired: restarting the list\n");
	harvest->read = 0;
	harvest->tokens.length = 0;
	return first_url(rq, harvest);
}

/* Raise when the server has given this token before: the list would never end. */
static void require_new_token(struct request *rq, struct harvest *harvest, const char *token)
{
	uint8_t hash[SHA256_LEN];
	sha256(token, strlen(token), hash);
	for (size_t at = 0; at < harvest->tokens.length; at += TOKEN_HASH_BYTES)
		if (memcmp(harvest->tokens.data + at, hash, TOKEN_HASH_BYTES) == 0)
			raise_error(rq, ERR_UPSTREAM, "the server repeats a resumption token");
	buf_add(&harvest->tokens, hash, TOKEN_HASH_BYTES);
}

/* Fetch and store one page. Returns the URL of the next one; NULL: it was the last. */
static const char *harvest_page(struct request *rq, struct harvest *harvest, struct import *import,
                                const char *url)
{
	const char *why;
	struct oai_page page;
	struct fetch_response *answer = get_page(rq, url);
	if (oai_parse(rq->arena, answer->body, answer->body_length, &page, &why))
		raise_error(rq, ERR_UPSTREAM, "%s: %s", url, why);
	if (page.error && strcmp(page.error, "badResumptionToken") == 0)
		return restart_list(rq, harvest);
	if (page.error && strcmp(page.error, "noRecordsMatch") != 0)
		raise_error(rq, ERR_UPSTREAM, "the server refused the request: %s: %s", page.error,
		            page.error_text);
	store_page(rq, harvest, import, &page);
	if (!page.token)
		return NULL;
	require_new_token(rq, harvest, page.token);
	return arena_printf(rq->arena, "%s?verb=ListRecords&resumptionToken=%s", oai_url,
	                    query_encode(rq->arena, page.token));
}

static void harvest_main(struct request *rq)
{
	struct harvest *harvest = rq->user;
	struct import *import = import_new(rq);
	harvest->tokens.arena = rq->arena;
	const char *url = first_url(rq, harvest);
	while (url) {
		struct arena *whole = request_page_begin(rq);
		url = arena_strdup(whole, harvest_page(rq, harvest, import, url));
		request_page_end(rq);
		if (url)
			fiber_sleep(rq, (uint64_t)harvest_delay_ms);
	}
	printf("%zu records read: %zu withdrawn, ", import->seen, harvest->withdrawn);
	import_print_outcome(import);
}

static bool is_date(const char *text)
{
	int64_t day;
	return text && date_parse(text, strlen(text), &day);
}

int harvest_command(struct process *process, int argc, char **argv)
{
	static const struct option OPTIONS[] = {
		{"from", required_argument, NULL, 'f'},
		{"until", required_argument, NULL, 'u'},
		{"set", required_argument, NULL, 's'},
		{0},
	};
	struct harvest harvest = {0};
	int option;
	while ((option = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1) {
		if (option == '?')
			return 2;
		*(option == 'f'   ? &harvest.from
		  : option == 'u' ? &harvest.until
		                  : &harvest.set) = optarg;
	}
	if (!is_date(harvest.from) || (harvest.until && !is_date(harvest.until)) || optind < argc) {
		fprintf(stderr, "usage: svc-search harvest --from YYYY-MM-DD [--until YYYY-MM-DD] "
		                "[--set cs]\n");
		return 2;
	}
	return command_run(process, harvest_main, &harvest);
}
