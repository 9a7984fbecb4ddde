#include "harvest/source.h"

#include "client/fetch.h"
#include "crypto/crypto.h"
#include "ingest/import.h"
#include "ingest/paper_id.h"
#include "json/json.h"
#include "loop/fiber.h"
#include "loop/wait.h"
#include "pg/pg.h"
#include "service/process.h"
#include "source.sql.h"

#include <string.h>

#define PAGE_MAX_BYTES   ((size_t)64 * 1024 * 1024)
#define BACKOFF_MAX_MS   360000
#define TOKEN_HASH_BYTES 8

/* For a turn: a pass of the harvester, of 10 minutes, has time for the request behind it. */
#define TURN_WAIT_MAX_MS 400000

static const char *contact;
static int64_t timeout_ms;

const struct setting SOURCE_SETTINGS[] = {
	SETTING_TEXT(&contact, "HARVEST_CONTACT", "",
                     "Mail address that sources of papers get, for when the harvest troubles "
                     "them."),
	SETTING_MS(&timeout_ms, "HARVEST_TIMEOUT", "3m", 100, 300000,
                   "How long a page of a source of papers may take; arXiv needs a minute and more "
                   "in the hour after an announcement."),
	SETTING_END,
};

const struct source *const SOURCES[SOURCE_COUNT] = {
	&ARXIV_SOURCE,
	&BIORXIV_SOURCE,
	&MEDRXIV_SOURCE,
};

const struct source *source_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(SOURCES); i++)
		if (strcmp(SOURCES[i]->name, name) == 0)
			return SOURCES[i];
	return NULL;
}

uint64_t source_backoff_ms(const struct source *source, int attempt)
{
	return MIN_OF(source->delay_ms() << attempt, (uint64_t)BACKOFF_MAX_MS);
}

/* --- Requests --------------------------------------------------------------------------------- */

static struct source_answer busy(const char *why, uint64_t retry_after_ms)
{
	return (struct source_answer){.outcome = SOURCE_BUSY,
	                              .why = why,
	                              .retry_after_ms = retry_after_ms};
}

static struct source_answer refused(const char *why)
{
	return (struct source_answer){.outcome = SOURCE_REFUSED, .why = why};
}

/* `expops/0.1.0 (+https://expops.example.org; mailto:papers@example.org)`: arXiv asks programs to
 * say whom they belong to. */
static const char *agent(struct arena *arena)
{
	const char *public_url = process_settings.public_url;
	struct buf text = {.arena = arena};
	buf_puts(&text, "expops/" EXPOPS_VERSION);
	if (public_url[0] || contact[0])
		buf_printf(&text, " (%s%s%s%s%s)", public_url[0] ? "+" : "", public_url,
		           public_url[0] && contact[0] ? "; " : "", contact[0] ? "mailto:" : "",
		           contact);
	return text.data;
}

struct parsing {
	const struct source *source;
	struct arena *arena;
	const struct fetch_response *response;
	struct source_page page;
	enum err_code code;
	const char *why;
};

static void parse_page(void *arg)
{
	struct parsing *parsing = arg;
	parsing->code =
		parsing->source->parse(parsing->arena, parsing->source, parsing->response->body,
	                               parsing->response->body_length, &parsing->page,
	                               &parsing->why);
}

static struct source_answer read_page(struct request *rq, const struct source *source,
                                      const char *url, bool has_token,
                                      const struct fetch_response *response)
{
	struct parsing parsing = {.source = source, .arena = rq->arena, .response = response};
	if (response->body_length > OFFLOAD_TEXT_BYTES)
		fiber_offload(rq, LANE_BATCH, parse_page, &parsing);
	else
		parse_page(&parsing);
	if (parsing.code)
		return refused(arena_printf(rq->arena, "%s: %s", url, parsing.why));
	struct source_answer answer = {.outcome = SOURCE_PAGE, .page = parsing.page};
	if (answer.page.refusal)
		return refused(arena_printf(rq->arena, "the server refused the request: %s",
		                            answer.page.refusal));
	if (answer.page.is_expired || (answer.page.is_unmatched && has_token))
		return (struct source_answer){.outcome = SOURCE_EXPIRED};
	return answer;
}

bool source_reserve(struct request *rq, const struct source *source, int64_t wait_max_ms,
                    int64_t *ret_wait_ms)
{
	struct pg_rows *rows = pg_query(rq, SOURCE_TAKE_TURN_SQL, pg_text(source->name),
	                                pg_int((int64_t)source->delay_ms()), pg_int(wait_max_ms));
	if (pg_empty(rows))
		return false;
	*ret_wait_ms = pg_value_int(rows, 0);
	return true;
}

/* Wait for the next turn. False: it comes too late. */
static bool take_turn(struct request *rq, const struct source *source)
{
	int64_t wait_ms;
	if (!source_reserve(rq, source, TURN_WAIT_MAX_MS, &wait_ms))
		return false;
	if (wait_ms)
		fiber_sleep(rq, (uint64_t)wait_ms);
	return true;
}

struct source_answer source_ask(struct request *rq, const struct source *source, const char *url,
                                bool has_token)
{
	const struct http_field user_agent = {"User-Agent", agent(rq->arena)};
	struct fetch_call call = {
		.url = url,
		.fields = &user_agent,
		.field_count = 1,
		.response_max_bytes = PAGE_MAX_BYTES,
		.timeout_ms = (uint64_t)timeout_ms,
		.follow_redirects = true,
		.guard = FETCH_GUARD_REDIRECTS,
	};
	if (!take_turn(rq, source))
		return busy("others ask this source", 0);
	struct fetch_response *response = NULL;
	enum err_code code = fetch_try(rq, &call, &response);
	if (code == ERR_FORBIDDEN)
		return refused(arena_printf(
			rq->arena,
			"%s redirects to a private network, which FETCH_ALLOW does not list", url));
	if (code)
		return busy(err_info(code)->title, 0);
	if (response->status == 429 || response->status >= 500)
		return busy(http_reason(response->status), fetch_retry_after_ms(response));
	if (response->status != 200)
		return refused(arena_printf(rq->arena, "%s answered %d", url, response->status));
	return read_page(rq, source, url, has_token, response);
}

/* --- Pages ------------------------------------------------------------------------------------ */

static size_t withdraw(struct request *rq, const struct source_page *page)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *ids = yyjson_mut_arr(doc);
	const struct source_record *record;
	STAILQ_FOREACH (record, &page->records, entry) {
		char id[PAPER_ID_MAX + 1];
		if (record->is_deleted && record->paper.id && paper_id_parse(record->paper.id, id))
			yyjson_mut_arr_add_strcpy(doc, ids, id);
	}
	if (yyjson_mut_arr_size(ids) == 0)
		return 0;
	struct pg_rows *rows =
		pg_query(rq, ASSET_WITHDRAW_SQL, pg_text(json_write_mut(rq->arena, ids, NULL)));
	return (size_t)pg_value_int(rows, 0);
}

size_t source_store(struct request *rq, struct import *import, const struct source_page *page)
{
	const char *why;
	const struct source_record *record;
	STAILQ_FOREACH (record, &page->records, entry) {
		const char *name = record->paper.id ? record->paper.id : "a record without an id";
		if (record->fault)
			import_skip(import, name, record->fault);
		else if (!record->is_deleted && !import_add(import, &record->paper, &why))
			import_skip(import, name, why);
	}
	import_flush(import);
	return withdraw(rq, page);
}

static void token_hash(const char *token, uint8_t hash[SHA256_LEN])
{
	sha256(token, strlen(token), hash);
}

bool source_token_is_new(const struct buf *seen, const char *token)
{
	uint8_t hash[SHA256_LEN];
	token_hash(token, hash);
	for (size_t at = 0; at < seen->length; at += TOKEN_HASH_BYTES)
		if (memcmp(seen->data + at, hash, TOKEN_HASH_BYTES) == 0)
			return false;
	return true;
}

void source_token_add(struct buf *seen, const char *token)
{
	uint8_t hash[SHA256_LEN];
	token_hash(token, hash);
	buf_add(seen, hash, TOKEN_HASH_BYTES);
}
