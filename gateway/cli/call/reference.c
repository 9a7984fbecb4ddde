#include "call/reference.h"

#include "call/call.h"
#include "call/profile.h"
#include "json/json.h"
#include "program/file.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define PAGE_ITEMS   100
#define PAGES_MAX    20
#define NUMBER_MAX   9999
#define TITLES_SHOWN 5
#define ID_BYTES     36
#define LIST_PREFIX  "last-"
#define LIST_SUFFIX  ".json"

/* How objects of a kind are listed, and where an item has its id, its name and its paper. */
struct kind {
	const char *noun;
	const char *operation; /* NULL: they have no names */
	const char *items;
	const char *id, *name, *paper;
};

static const struct kind KINDS[REFERENCE_COUNT] = {
	[REFERENCE_INTEREST] = {"interest", "interests_list", "", "id", "name", NULL},
	[REFERENCE_EXPERIMENT] = {"experiment", "experiments_list", "", "id", "name", "source_ref"},
	[REFERENCE_PAPER] = {"paper", NULL, NULL, "arxiv_id", "title", "arxiv_id"},
	[REFERENCE_RECOMMENDATION] = {"recommendation", NULL, NULL, "recommendation_id", "title",
                                      "resource_id"},
	[REFERENCE_TEMPLATE] = {"template", "templates_list", "", "template_id", "name", NULL},
	[REFERENCE_BUILD] = {"build", NULL, NULL, "build_id", NULL, NULL},
	[REFERENCE_EVAL_RUN] = {"evaluation run", "eval_runs_list", "", "run_id", "name", NULL},
	[REFERENCE_KEY] = {"key", "api_keys_list", "/keys", "id", "name", NULL},
	[REFERENCE_INBOX_ITEM] = {"item of the inbox", NULL, NULL, "id", "title", NULL},
};

/* ---- the last list ---- */

/* Each session, of a terminal or of a job, has a file of its own: a number must never mean the list
 * of another one. Commands of a pipe belong to the session of their shell. */
static const char *state_path(struct cli *cli)
{
	return file_path(cli, "XDG_STATE_HOME", ".local/state",
	                 arena_printf(cli->arena, LIST_PREFIX "%ld" LIST_SUFFIX, (long)getsid(0)));
}

/* Whether the file is the list of a session that has ended. */
static bool is_left_behind(const char *name)
{
	char *end;
	if (strncmp(name, LIST_PREFIX, strlen(LIST_PREFIX)) != 0)
		return false;
	long session = strtol(name + strlen(LIST_PREFIX), &end, 10);
	return session > 0 && strcmp(end, LIST_SUFFIX) == 0 && kill((pid_t)session, 0) < 0 &&
	       errno == ESRCH;
}

static void remove_left_behind(struct cli *cli)
{
	DIR *folder = opendir(file_path(cli, "XDG_STATE_HOME", ".local/state", ""));
	for (struct dirent *entry; folder && (entry = readdir(folder));)
		if (is_left_behind(entry->d_name))
			unlinkat(dirfd(folder), entry->d_name, 0);
	if (folder)
		closedir(folder);
}

/* {"url": "...", "kind": "interest", "items": [{"id": "...", "paper": "...", "title": "..."}]} */
void reference_remember(struct cli *cli, enum reference_kind kind, yyjson_val **items, size_t count)
{
	const struct kind *row = &KINDS[kind];
	yyjson_mut_doc *doc = json_doc_new(cli->arena);
	yyjson_mut_val *root = yyjson_mut_obj(doc), *list;
	json_add_text(doc, root, "url", profile_get(cli)->url);
	json_add_text(doc, root, "kind", row->noun);
	list = yyjson_mut_obj_add_arr(doc, root, "items");
	for (size_t i = 0; i < MIN_OF(count, NUMBER_MAX); i++) {
		yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
		json_add_member(doc, item, "id", items[i], row->id);
		json_add_member(doc, item, "title", items[i], row->name ? row->name : row->id);
		json_add_member(doc, item, "paper", items[i], row->paper ? row->paper : "");
	}
	/* Without a place for it, as in a container, the list was shown all the same. */
	if (!getenv("HOME") && !getenv("XDG_STATE_HOME"))
		return;
	file_write(cli, state_path(cli), json_write_mut(cli->arena, root, NULL));
	remove_left_behind(cli);
}

/* The last list of this session, if this server has sent it; NULL: there is none. */
static yyjson_val *last_list(struct cli *cli)
{
	size_t length;
	yyjson_val *root;
	if (!getenv("HOME") && !getenv("XDG_STATE_HOME"))
		return NULL;
	const char *text = file_read(cli, state_path(cli), &length);
	if (!text || json_parse(cli->arena, text, length, &root, NULL))
		return NULL;
	const char *url = json_get_text(root, "url");
	return url && strcmp(url, profile_get(cli)->url) == 0 ? root : NULL;
}

/* The number that the text is; 0: it is none. */
static size_t number_of(const char *text)
{
	size_t digits = strspn(text, "0123456789");
	return digits > 0 && digits <= 4 && text[digits] == '\0' ? (size_t)strtoul(text, NULL, 10)
	                                                         : 0;
}

static yyjson_val *last_item(struct cli *cli, const char *text)
{
	size_t number = number_of(text);
	return number > 0 ? yyjson_arr_get(json_get(last_list(cli), "items"), number - 1) : NULL;
}

const char *reference_title(struct cli *cli, const char *text)
{
	const char *title = json_get_text(last_item(cli, text), "title");
	return title ? cli_shown(cli, title) : NULL;
}

static attr_noreturn void fail_number(struct cli *cli, enum reference_kind kind, const char *text)
{
	yyjson_val *list = last_list(cli);
	size_t count = yyjson_arr_size(json_get(list, "items"));
	const char *noun = json_get_text(list, "kind");
	if (!noun)
		cli_fail(EXIT_NOT_FOUND,
		         "%s: no list was shown in this terminal whose number this could be", text);
	if (number_of(text) > count)
		cli_fail(EXIT_NOT_FOUND, "%s: the last list has %zu items", text, count);
	cli_fail(EXIT_NOT_FOUND,
	         "%s: this number of the last list is no %s; it is of another kind: %s", text,
	         KINDS[kind].noun, cli_shown(cli, noun));
}

/* The id of a number of the last list; NULL: it is none of this kind. A recommendation is a paper,
 * too. */
static const char *id_of_number(struct cli *cli, enum reference_kind kind, const char *text)
{
	const char *noun = json_get_text(last_list(cli), "kind");
	yyjson_val *item = last_item(cli, text);
	if (kind == REFERENCE_PAPER)
		return json_get_text(item, "paper");
	return noun && strcmp(noun, KINDS[kind].noun) == 0 ? json_get_text(item, "id") : NULL;
}

/* ---- names ---- */

/* Call `found` with each object of a kind, page by page. False: they cannot be listed. */
static bool each_object(struct cli *cli, enum reference_kind kind, bool must_work, void *ctx,
                        void found(struct cli *cli, void *ctx, const char *id, const char *name))
{
	const struct kind *row = &KINDS[kind];
	for (size_t page = 0, count = PAGE_ITEMS; page < PAGES_MAX && count == PAGE_ITEMS; page++) {
		struct query *query = query_new(cli, row->operation);
		query_set(query, "limit", arena_printf(cli->arena, "%d", PAGE_ITEMS));
		query_set(query, "offset", arena_printf(cli->arena, "%zu", page * PAGE_ITEMS));
		struct answer *answer = must_work ? call(query) : call_try(query);
		yyjson_val *list = yyjson_ptr_get(answer->json, row->items), *item;
		if (answer->status != 200 || !yyjson_is_arr(list))
			return false;
		size_t index;
		yyjson_arr_foreach (list, index, count, item) {
			const char *id = json_get_text(item, row->id),
				   *name = json_get_text(item, row->name);
			if (id)
				found(cli, ctx, id, name ? name : "");
		}
	}
	return true;
}

/* How well a text names an object; the best ones of all are meant. */
enum match { MATCH_NONE, MATCH_BEGINNING, MATCH_NAME, MATCH_ID };

struct search {
	const char *text;
	enum match best;
	const char *id;    /* of the first of the best */
	const char *name;  /* of that */
	size_t count;      /* of the best */
	size_t seen;       /* of all */
	struct buf titles; /* of the first of them, for the message */
};

static enum match match_of(const char *text, const char *id, const char *name)
{
	size_t length = strlen(text);
	if (strcasecmp(id, text) == 0)
		return MATCH_ID;
	if (strcasecmp(name, text) == 0)
		return MATCH_NAME;
	bool is_beginning =
		strncasecmp(name, text, length) == 0 || strncasecmp(id, text, length) == 0;
	return is_beginning ? MATCH_BEGINNING : MATCH_NONE;
}

static void consider(struct cli *cli, void *ctx, const char *id, const char *name)
{
	struct search *search = ctx;
	enum match match = match_of(search->text, id, name);
	search->seen++;
	if (match == MATCH_NONE || match < search->best)
		return;
	if (match > search->best) {
		search->best = match;
		search->count = 0;
		search->titles = (struct buf){.arena = cli->arena};
		search->id = id;
		search->name = name;
	}
	if (search->count++ < TITLES_SHOWN)
		buf_printf(&search->titles, "\n  %s  %s", cli_shown(cli, id), cli_shown(cli, name));
}

static void search_objects(struct cli *cli, enum reference_kind kind, struct search *search)
{
	if (!each_object(cli, kind, true, search, consider))
		cli_fail(EXIT_FAILED, "the answer of %s is not a list", KINDS[kind].operation);
}

const char *reference_named(struct cli *cli, enum reference_kind kind, const char *name)
{
	struct search search = {.text = name};
	search_objects(cli, kind, &search);
	return search.best == MATCH_NAME ? search.id : NULL;
}

/* The one object that is meant by its name or id, or, unless `is_exact`, the beginning of one. */
static struct object find_one(struct cli *cli, enum reference_kind kind, const char *text,
                              bool is_exact)
{
	struct search search = {.text = text};
	const char *noun = KINDS[kind].noun;
	search_objects(cli, kind, &search);
	if (search.count == 0 && number_of(text) > 0)
		fail_number(cli, kind, text);
	if (search.count == 0)
		cli_fail(EXIT_NOT_FOUND, "there is no %s %s%s", noun, text,
		         search.seen < PAGE_ITEMS * PAGES_MAX
		                 ? ""
		                 : " among the first 2,000; its id stands for any");
	if (is_exact && search.best == MATCH_BEGINNING)
		cli_fail(EXIT_USAGE, "there is no %s %s; the whole name is needed here:%s", noun,
		         text, search.titles.data);
	if (search.count > 1)
		cli_fail(EXIT_USAGE, "%s is the %s of more than one %s:%s", text,
		         search.best == MATCH_BEGINNING ? "beginning" : "name", noun,
		         search.titles.data);
	return (struct object){search.id, search.name};
}

/* The arXiv id of `arXiv:2205.14135` or `https://arxiv.org/abs/2205.14135`. */
static const char *paper_of(const char *text)
{
	static const char *const BEGINNINGS[] = {"https://arxiv.org/abs/", "http://arxiv.org/abs/",
	                                         "https://arxiv.org/pdf/", "arxiv:"};
	for (size_t i = 0; i < ARRAY_LEN(BEGINNINGS); i++)
		if (strncasecmp(text, BEGINNINGS[i], strlen(BEGINNINGS[i])) == 0)
			return text + strlen(BEGINNINGS[i]);
	return text;
}

/* Whether the text has the form of a UUID, so that nothing needs to be listed. */
static bool is_id(const char *text)
{
	return strlen(text) == ID_BYTES && strspn(text, "0123456789abcdefABCDEF-") == ID_BYTES;
}

const char *reference_id(struct cli *cli, enum reference_kind kind, const char *text)
{
	const char *id = id_of_number(cli, kind, text);
	if (id)
		return id;
	if (kind == REFERENCE_PAPER && number_of(text) == 0)
		return paper_of(text);
	if (is_id(text))
		return text;
	if (!KINDS[kind].operation && number_of(text) > 0)
		fail_number(cli, kind, text);
	if (!KINDS[kind].operation)
		cli_fail(EXIT_USAGE, "%s: neither a number of the last list nor an id", text);
	return find_one(cli, kind, text, false).id;
}

/* Its name is for people only: a key that may not list the objects can still name one by its id. */
static struct object find_by_id(struct cli *cli, enum reference_kind kind, const char *id)
{
	struct search search = {.text = id};
	each_object(cli, kind, false, &search, consider);
	return (struct object){id, search.best == MATCH_ID ? search.name : NULL};
}

struct object reference_exact(struct cli *cli, enum reference_kind kind, const char *text)
{
	const char *id = id_of_number(cli, kind, text);
	if (id)
		return (struct object){id, json_get_text(last_item(cli, text), "title")};
	return is_id(text) ? find_by_id(cli, kind, text) : find_one(cli, kind, text, true);
}

struct names {
	const char **names;
	size_t count;
};

static void add_name(struct cli *cli, void *ctx, const char *id, const char *name)
{
	struct names *names = ctx;
	if (names->count < PAGE_ITEMS * PAGES_MAX)
		names->names[names->count++] = arena_strdup(cli->arena, *name ? name : id);
}

const char **reference_names(struct cli *cli, enum reference_kind kind)
{
	struct names names = {arena_array(cli->arena, PAGE_ITEMS * PAGES_MAX + 1,
	                                  sizeof(const char *)),
	                      0};
	if (KINDS[kind].operation)
		each_object(cli, kind, false, &names, add_name);
	return names.names;
}
