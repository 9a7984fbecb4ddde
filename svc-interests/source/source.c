#include "source/source.h"

#include "base/utf8.h"
#include "client/service_ask.h"
#include "json/json.h"
#include "loop/wait.h"
#include "observe/log.h"
#include "pg/pg.h"
#include "source.sql.h"
#include "source/page_text.h"
#include "source/source_links.h"

#include <libxml/parser.h>
#include <string.h>
#include <strings.h>

#define PAGE_MAX_BYTES  ((size_t)512 * 1024)
#define READ_TIMEOUT_MS 10000
#define TURN_MAX_MS     8000  /* until arXiv may be asked */
#define ALL_TIMEOUT_MS  30000 /* of a repository by both ways, with some time to spare */
#define BODY_MAX_BYTES  8192  /* of a text that is kept */
#define TITLE_MAX_BYTES 300

static const char *code_host;

const struct setting SOURCE_SETTINGS[] = {
	SETTING_TEXT(&code_host, "CODE_HOST_WEB_URL", "https://github.com",
                     "Address of the code host's pages, by which links to repositories are known."),
	SETTING_END,
};

/* A source that is read by a fiber of its own. The strings are in the arena of `rq`. */
struct reading {
	struct request *rq; /* that reads the sources */
	const struct source_link *link;
	const char *status; /* `read`, `failed`, `refused` */
	const char *title, *body;
	size_t characters;
	const char *error; /* NULL: none */
	bool is_transient; /* the error says nothing of the source: it is read again soon */
};

const char *source_code_host(void)
{
	return code_host;
}

void sources_init(void)
{
	xmlInitParser();
}

static void fail(struct reading *reading, const char *error)
{
	reading->status = "failed";
	reading->error = arena_strdup(reading->rq->arena, error);
}

static void fail_for_now(struct reading *reading, const char *error)
{
	fail(reading, error);
	reading->is_transient = true;
}

static const char *cut(struct arena *arena, const char *text, size_t max)
{
	return arena_strndup(arena, text, utf8_cut(text, strlen(text), max));
}

static void succeed(struct reading *reading, const char *title, const char *text)
{
	struct arena *arena = reading->rq->arena;
	reading->status = "read";
	reading->error = NULL;
	reading->title = title && *title ? cut(arena, title, TITLE_MAX_BYTES) : NULL;
	reading->body = cut(arena, text, BODY_MAX_BYTES);
	reading->characters = utf8_count(text, strlen(text));
}

/* Papers */

static void read_paper(struct request *rq, struct reading *reading)
{
	const char *body = arena_printf(rq->arena, "{\"arxiv_ids\": %s}", reading->link->name);
	struct service_answer answer =
		service_ask_try(rq, INTERNAL_ID_assets_lookup, body,
	                        &(struct ask_options){.timeout_ms = READ_TIMEOUT_MS});
	yyjson_val *paper = yyjson_arr_get_first(json_get(answer.json, "results"));
	const char *title = json_get_text(paper, "title");
	const char *abstract = json_get_text(paper, "abstract");
	if (answer.code)
		fail_for_now(reading, "svc-search is unavailable");
	else if (!paper)
		fail(reading, "the library has no such paper");
	else
		succeed(reading, title, abstract ? abstract : "");
	if (!answer.code && paper)
		reading->body = ""; /* the pool looks papers up by itself */
}

/* Pages */

struct parsing {
	struct arena *arena;
	const struct fetch_response *response;
	const char *charset;
	struct page_text page;
};

static void parse_page(void *arg)
{
	struct parsing *parsing = arg;
	parsing->page = page_text_read(parsing->arena, parsing->response->body,
	                               parsing->response->body_length, parsing->charset);
}

/* The charset of a media type; NULL: none. */
static const char *charset_of(struct arena *arena, const char *type)
{
	const char *at = strcasestr(type, "charset=");
	if (!at)
		return NULL;
	at += strlen("charset=");
	at += *at == '"';
	return arena_strndup(arena, at, strcspn(at, "\"; \t"));
}

static bool is_type(const char *type, const char *name)
{
	return strncasecmp(type, name, strlen(name)) == 0;
}

static void take_page(struct request *rq, struct reading *reading,
                      const struct fetch_response *response)
{
	const char *type = fetch_field(response, "Content-Type");
	if (!type || is_type(type, "text/html") || is_type(type, "application/xhtml+xml")) {
		struct parsing *parsing = arena_new_of(rq->arena, struct parsing);
		*parsing = (struct parsing){offload_arena(rq),
		                            response,
		                            type ? charset_of(rq->arena, type) : NULL,
		                            {"", ""}};
		fiber_offload(rq, LANE_SHORT, parse_page, parsing);
		if (parsing->page.text[0])
			succeed(reading, parsing->page.title, parsing->page.text);
		else
			fail(reading, "the page has no text");
	} else if (is_type(type, "text/") && utf8_is_valid(response->body, response->body_length) &&
	           strlen(response->body) == response->body_length) {
		succeed(reading, NULL, response->body);
	} else {
		fail(reading, "the address leads to no text");
	}
}

/* arXiv counts all requests of an installation as those of one client: wait until it is the turn of
 * this one. False: that takes too long. */
static bool take_arxiv_turn(struct request *rq)
{
	const char *body = arena_printf(rq->arena, "{\"source\": \"arxiv\", \"wait_max_ms\": %d}",
	                                TURN_MAX_MS);
	struct service_answer answer =
		service_ask_try(rq, INTERNAL_ID_source_turn, body,
	                        &(struct ask_options){.timeout_ms = READ_TIMEOUT_MS});
	int64_t wait_ms = json_get_int(answer.json, "wait_ms", -1);
	if (answer.code || wait_ms < 0)
		return false;
	if (wait_ms)
		fiber_sleep(rq, (uint64_t)wait_ms);
	return true;
}

static void read_page(struct request *rq, struct reading *reading)
{
	struct http_field fields[] = {
		http_field_of("User-Agent", "expops"),
		http_field_of("Accept", "text/html, text/plain"),
	};
	struct fetch_call call = {
		.url = reading->link->url,
		.fields = fields,
		.field_count = ARRAY_LEN(fields),
		.response_max_bytes = PAGE_MAX_BYTES,
		.timeout_ms = READ_TIMEOUT_MS,
		.follow_redirects = true,
		.guard = FETCH_GUARD_ALL,
	};
	struct fetch_response *response = NULL;
	if (source_link_is_arxiv(call.url) && !take_arxiv_turn(rq)) {
		fail_for_now(reading, "arXiv is being read for others");
		return;
	}
	enum err_code code = fetch_try(rq, &call, &response);
	fetch_raise_if_full(rq, code);
	if (code == ERR_FORBIDDEN) {
		fail(reading, "the address leads into a private network");
		reading->status = "refused";
	} else if (code == ERR_UPSTREAM) {
		fail(reading, "the answer is unusable, or larger than 512 KiB");
	} else if (code == ERR_TIMEOUT) {
		fail(reading, "no answer in time");
	} else if (code) {
		fail(reading, "the server cannot be reached");
	} else if (response->status != 200) {
		fail(reading,
		     arena_printf(rq->arena, "the answer had the status %d", response->status));
	} else {
		take_page(rq, reading, response);
	}
}

/* Repositories */

static void add_line(struct buf *out, const char *text)
{
	if (text && *text)
		buf_printf(out, "%s\n", text);
}

/* Description, topics, language and README of repository_facts_get. */
static const char *describe(struct arena *arena, yyjson_val *facts)
{
	struct buf out = {.arena = arena};
	size_t i, count;
	yyjson_val *topic;
	buf_puts(&out, "");
	add_line(&out, json_get_text(facts, "description"));
	yyjson_arr_foreach (json_get(facts, "topics"), i, count, topic)
		add_line(&out, yyjson_get_str(topic));
	add_line(&out, json_get_text(facts, "language"));
	add_line(&out, json_get_text(json_get(facts, "readme"), "text"));
	return out.data;
}

/* Whether a repository cannot be read as such: the account has no access to it, or there is no app,
 * or nothing that is of use. Other errors say nothing of the repository. */
static bool is_page_only(const struct service_answer *answer, const char *text)
{
	return err_is_final(answer->code) || (answer->code == ERR_NONE && !*text);
}

/* Through the code-host app or the account's connection; a public repository of others as a page.
 * While the code host is away the page stands in where nothing was read so far (source_save). */
static void read_repository(struct request *rq, struct reading *reading)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *body = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, body, "repo", reading->link->name);
	struct service_answer answer =
		service_ask_try(rq, INTERNAL_ID_repository_facts_get,
	                        json_write_mut(rq->arena, body, NULL),
	                        &(struct ask_options){.timeout_ms = READ_TIMEOUT_MS});
	const char *text = answer.code ? "" : describe(rq->arena, answer.json);
	if (*text) {
		succeed(reading, json_get_text(answer.json, "repo"), text);
		return;
	}
	read_page(rq, reading);
	if (is_page_only(&answer, text))
		return;
	if (reading->error)
		fail(reading, "the code host, or what asks it, is unavailable");
	reading->is_transient = true;
}

struct source_text source_repository_read(struct request *rq, const char *url, const char *repo)
{
	const struct source_link link = {.kind = SOURCE_REPOSITORY, .url = url, .name = repo};
	struct reading *reading = arena_new_of(rq->arena, struct reading);
	*reading = (struct reading){.rq = rq, .link = &link};
	read_repository(rq, reading);
	return (struct source_text){.body = reading->body, .error = reading->error};
}

/* All of them */

static void (*const READERS[])(struct request *rq, struct reading *reading) = {
	[SOURCE_PAPER] = read_paper,
	[SOURCE_REPOSITORY] = read_repository,
	[SOURCE_PAGE] = read_page,
};

static const char *const KINDS[] = {
	[SOURCE_PAPER] = "paper", [SOURCE_REPOSITORY] = "repository", [SOURCE_PAGE] = "page"};

/* A member of the group of sources_read(). */
static void read_one(struct request *rq)
{
	struct reading *reading = rq->user;
	READERS[reading->link->kind](rq, reading);
}

static struct source_links find_links(struct request *rq, const struct pg_rows *interest)
{
	static const char *const COLUMNS[] = {"source_repo_url", "context"};
	struct source_links links = {0};
	for (size_t i = 0; i < ARRAY_LEN(COLUMNS); i++) {
		const char *text = pg_get(interest, 0, COLUMNS[i]);
		if (text)
			source_links_add(rq->arena, &links, text, code_host);
	}
	return links;
}

/* Store which addresses the interest names. Returns the places of those that are due. */
static yyjson_val *sync_links(struct request *rq, const char *interest,
                              const struct source_links *links)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *named = yyjson_mut_arr(doc);
	for (size_t i = 0; i < links->count; i++) {
		yyjson_mut_val *row = yyjson_mut_arr_add_obj(doc, named);
		yyjson_mut_obj_add_int(doc, row, "place", (int64_t)i);
		yyjson_mut_obj_add_str(doc, row, "url", links->links[i].url);
		yyjson_mut_obj_add_str(doc, row, "kind", KINDS[links->links[i].kind]);
	}
	struct pg_rows *rows = pg_query(rq, SOURCE_SYNC_SQL, pg_text(interest),
	                                pg_text(json_write_mut(rq->arena, named, NULL)));
	return json_parse_own(rq->arena, pg_json(rows));
}

static void save(struct request *rq, const char *interest, const struct reading *readings,
                 size_t count)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *read = yyjson_mut_arr(doc);
	for (size_t i = 0; i < count; i++) {
		yyjson_mut_val *row = yyjson_mut_arr_add_obj(doc, read);
		yyjson_mut_obj_add_str(doc, row, "url", readings[i].link->url);
		yyjson_mut_obj_add_str(doc, row, "status", readings[i].status);
		json_add_text(doc, row, "title", readings[i].title);
		json_add_text(doc, row, "body", readings[i].body);
		yyjson_mut_obj_add_int(doc, row, "characters", (int64_t)readings[i].characters);
		json_add_text(doc, row, "error", readings[i].error);
		yyjson_mut_obj_add_bool(doc, row, "is_transient", readings[i].is_transient);
	}
	pg_query(rq, SOURCE_SAVE_SQL, pg_text(interest),
	         pg_text(json_write_mut(rq->arena, read, NULL)));
}

void sources_read(struct request *rq, const char *interest)
{
	struct pg_rows *rows = pg_query(rq, SOURCE_INTEREST_SQL, pg_text(interest));
	if (pg_empty(rows))
		return;
	struct source_links *links = arena_new_of(rq->arena, struct source_links);
	*links = find_links(rq, rows);
	if (links->count == 0 && !pg_get_bool(rows, 0, "has_sources"))
		return;
	yyjson_val *due = sync_links(rq, interest, links);
	size_t i, count;
	yyjson_val *place;
	struct reading *readings =
		arena_array(rq->arena, yyjson_arr_size(due) + 1, sizeof(*readings));
	yyjson_arr_foreach (due, i, count, place) {
		readings[i] =
			(struct reading){.rq = rq, .link = &links->links[yyjson_get_int(place)]};
		fail(&readings[i], "no answer in time");
		fiber_spawn_within(rq, ALL_TIMEOUT_MS, read_one, &readings[i]);
	}
	if (count == 0)
		return;
	fiber_join_try(rq, NULL);
	save(rq, interest, readings, count);
}
