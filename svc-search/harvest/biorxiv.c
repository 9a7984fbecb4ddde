/* The sources `biorxiv` and `medrxiv`. */
#include "harvest/biorxiv.h"

#include "base/timefmt.h"
#include "http/query.h"
#include "json/json.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Its help does not say how fast it may be asked. */
#define DELAY_MS 1000

/* A page has PAGE_ITEMS. More than ITEMS_MAX are refused: each is compared with those before it. */
#define PAGE_ITEMS 100
#define ITEMS_MAX  5000

/* Behind as many papers there is no page: the number of the next one stays in an integer. */
#define CURSOR_MAX INT32_MAX

#define VALUES_MAX 500000

/* What `status` begins with where there are no posts: `no posts found`. */
#define EMPTY "no "

static const char *biorxiv_url;

const struct setting BIORXIV_SETTINGS[] = {
	SETTING_TEXT(&biorxiv_url, "BIORXIV_URL", "https://api.biorxiv.org",
                     "URL of the API of bioRxiv and medRxiv, without /details."),
	SETTING_END,
};

/* --- Requests --------------------------------------------------------------------------------- */

/* A set is a category of the server, `cell_biology`, or `all` of it. */
static bool is_category(const char *set)
{
	return set && strcmp(set, "all") != 0;
}

static const char *page_url(struct arena *arena, const struct source *source,
                            const struct source_cursor *cursor, const char *offset)
{
	char today[DATE_TEXT_LEN + 1];
	struct buf url = {.arena = arena};
	date_format(time_now_ms(), today);
	buf_printf(&url, "%s/details/%s/%s/%s/%s/json", biorxiv_url, source->name, cursor->from,
	           cursor->until ? cursor->until : today, offset);
	if (is_category(cursor->set))
		buf_printf(&url, "?category=%s", query_encode(arena, cursor->set));
	return url.data;
}

static const char *first(struct arena *arena, const struct source *source,
                         const struct source_cursor *cursor)
{
	return page_url(arena, source, cursor, "0");
}

static uint64_t delay(void)
{
	return DELAY_MS;
}

/* Posts appear through the day: those of the day before are all there, and the day's refresh of
 * interests is not under way yet. */
static const char *at(void)
{
	return "05:00 UTC";
}

/* --- Answers ---------------------------------------------------------------------------------- */

static int64_t number(yyjson_val *object, const char *name)
{
	const char *text = json_get_text(object, name);
	return text ? strtoll(text, NULL, 10) : json_get_int(object, name, 0);
}

/* `biorxiv.infectious_diseases_except_hiv_aids` of "infectious diseases (except hiv/aids)". */
static const char *category(struct arena *arena, const char *server, const char *name)
{
	struct buf out = {.arena = arena};
	bool is_gap = true;
	buf_puts(&out, server);
	for (; name && *name; name++) {
		if (!isalnum((unsigned char)*name)) {
			is_gap = true;
			continue;
		}
		if (is_gap)
			buf_puts(&out, out.length == strlen(server) ? "." : "_");
		buf_printf(&out, "%c", tolower((unsigned char)*name));
		is_gap = false;
	}
	return out.data;
}

/* Full names of "Byron, A. B.; Team". */
static void read_authors(struct arena *arena, const char *text, struct metadata *paper)
{
	char *rest = arena_strdup(arena, text ? text : "");
	const char **names = arena_array(arena, strlen(rest) / 2 + 2, sizeof(*names));
	for (char *family; (family = strsep(&rest, ";"));) {
		char *given = strchr(family, ',');
		if (given)
			*given++ = '\0';
		const char *name = metadata_author_name(arena, given, family, NULL);
		if (*name)
			names[paper->author_count++] = name;
	}
	paper->authors = names;
}

static int64_t day_ms(const char *text)
{
	int64_t time_ms;
	return text && date_parse(text, strlen(text), &time_ms) ? time_ms : 0;
}

static struct source_record *read_item(struct arena *arena, const char *server, yyjson_val *item,
                                       int64_t version)
{
	struct source_record *record = arena_new_of(arena, struct source_record);
	struct metadata *paper = &record->paper;
	const char *doi = json_get_text(item, "doi");
	paper->id = doi ? arena_printf(arena, "%s:%s", server, doi) : NULL;
	paper->title = json_get_text(item, "title");
	paper->abstract = json_get_text(item, "abstract");
	paper->categories = category(arena, server, json_get_text(item, "category"));
	paper->license = json_get_text(item, "license");
	paper->updated_at_ms = day_ms(json_get_text(item, "date"));
	paper->published_at_ms = version == 1 ? paper->updated_at_ms : 0;
	read_authors(arena, json_get_text(item, "authors"), paper);
	/* Withdrawn papers are listed without one. */
	if (!paper->abstract || !paper->abstract[strspn(paper->abstract, " \n")])
		record->fault = "there is no abstract";
	return record;
}

/* The record of the same paper in the page, and the version that it is of. */
struct version {
	struct source_record *record;
	int64_t number;
};

static struct version *find(struct version *versions, size_t count, const char *id)
{
	for (size_t i = 0; id && i < count; i++)
		if (versions[i].record->paper.id && strcmp(versions[i].record->paper.id, id) == 0)
			return &versions[i];
	return NULL;
}

/* Of two versions the higher one, with the time of the first. */
static void merge(struct version *known, const struct source_record *record, int64_t number)
{
	struct metadata *paper = &known->record->paper;
	int64_t published_at_ms = MAX_OF(paper->published_at_ms, record->paper.published_at_ms);
	if (number > known->number) {
		*paper = record->paper;
		known->record->fault = record->fault;
		known->number = number;
	}
	paper->published_at_ms = published_at_ms;
}

static void read_items(struct arena *arena, const char *server, yyjson_val *items,
                       struct source_page *page)
{
	struct version *versions =
		arena_array(arena, yyjson_arr_size(items) + 1, sizeof(*versions));
	size_t index, max, count = 0;
	yyjson_val *item;
	yyjson_arr_foreach (items, index, max, item) {
		int64_t number_of_version = number(item, "version");
		struct source_record *record = read_item(arena, server, item, number_of_version);
		struct version *known = find(versions, count, record->paper.id);
		if (known) {
			merge(known, record, number_of_version);
			continue;
		}
		versions[count++] = (struct version){record, number_of_version};
		STAILQ_INSERT_TAIL(&page->records, record, entry);
	}
	page->count = yyjson_arr_size(items);
}

/* What the server says in place of a list, such as `Error: ...`; NULL: nothing. */
static const char *refusal_of(yyjson_val *message, yyjson_val *items)
{
	const char *status = json_get_text(message, "status");
	bool is_list = !status || strcasecmp(status, "ok") == 0 || yyjson_arr_size(items) > 0;
	return is_list || strncasecmp(status, EMPTY, strlen(EMPTY)) == 0 ? NULL : status;
}

enum err_code biorxiv_parse(struct arena *arena, const char *name, const char *json, size_t length,
                            struct source_page *ret_page, const char **ret_why)
{
	yyjson_val *root;
	enum err_code code = json_parse_lenient(arena, json, length, VALUES_MAX, &root, ret_why);
	if (code)
		return ERR_MALFORMED;
	yyjson_val *message = yyjson_arr_get_first(json_get(root, "messages"));
	yyjson_val *items = json_get(root, "collection");
	int64_t cursor = number(message, "cursor");
	*ret_why = "it is not an answer of the API of details";
	if (!yyjson_is_obj(message) || cursor < 0 || cursor > CURSOR_MAX)
		return ERR_MALFORMED;
	*ret_why = "it has more than 5000 items";
	if (yyjson_arr_size(items) > ITEMS_MAX)
		return ERR_MALFORMED;
	*ret_page = (struct source_page){
		.complete = (long)number(message, "total"),
		.refusal = refusal_of(message, items),
	};
	STAILQ_INIT(&ret_page->records);
	read_items(arena, name, items, ret_page);
	int64_t end = cursor + (int64_t)ret_page->count;
	if (ret_page->count >= PAGE_ITEMS || (ret_page->count > 0 && end < ret_page->complete))
		ret_page->token = arena_printf(arena, "%lld", (long long)end);
	return ERR_NONE;
}

static enum err_code parse(struct arena *arena, const struct source *source, const char *text,
                           size_t length, struct source_page *ret_page, const char **ret_why)
{
	return biorxiv_parse(arena, source->name, text, length, ret_page, ret_why);
}

const struct source BIORXIV_SOURCE = {
	.name = "biorxiv",
	.lease = "harvest.biorxiv",
	.at = at,
	.first = first,
	.next = page_url,
	.delay_ms = delay,
	.parse = parse,
};

const struct source MEDRXIV_SOURCE = {
	.name = "medrxiv",
	.lease = "harvest.medrxiv",
	.at = at,
	.first = first,
	.next = page_url,
	.delay_ms = delay,
	.parse = parse,
};
