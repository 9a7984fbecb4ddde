#include "ingest/metadata.h"

#include "base/timefmt.h"
#include "base/url.h"
#include "base/utf8.h"
#include "ingest/paper_id.h"
#include "input/field_check.h"
#include "input/input.h"
#include "plain/plain_row.h"
#include "product/repository_url.h"

#include <curl/curl.h>

#include <ctype.h>
#include <string.h>

#define TITLE_MAX      1000
#define ABSTRACT_MAX   50000
#define AUTHORS_MAX    5000
#define CATEGORIES_MAX 64
#define COMMENTS_MAX   5000 /* bytes; longer ones are cut */
#define DOI_MAX        250  /* bytes; longer ones are left out */

char *metadata_collapse_space(struct arena *arena, const char *text)
{
	char *out = arena_alloc(arena, strlen(text) + 1);
	size_t length = 0;
	for (; *text; text++) {
		if ((unsigned char)*text > ' ' || !isspace((unsigned char)*text))
			out[length++] = *text;
		else if (length && out[length - 1] != ' ')
			out[length++] = ' ';
	}
	if (length && out[length - 1] == ' ')
		length--;
	out[length] = '\0';
	return out;
}

char *metadata_author_name(struct arena *arena, const char *given, const char *family,
                           const char *suffix)
{
	return metadata_collapse_space(arena,
	                               arena_printf(arena, "%s %s %s", given ? given : "",
	                                            family ? family : "", suffix ? suffix : ""));
}

/* --- To a row --------------------------------------------------------------------------------- */

/* The first GitHub repository in `text` (NULL: no text), as `https://github.com/owner/name`; NULL:
 * none. LaTeX's `\_` is read as `_`. */
static const char *find_repository(struct arena *arena, const char *text)
{
	static const char GITHUB[] = "https://github.com";
	struct buf plain = {.arena = arena};
	const char *found[1];
	if (!text || !strcasestr(text, "github"))
		return NULL;
	for (; *text; text++)
		if (text[0] != '\\' || text[1] != '_')
			buf_add(&plain, text, 1);
	if (!plain.data || repository_urls_find(arena, GITHUB, plain.data, found, 1) == 0)
		return NULL;
	return arena_printf(arena, "%s/%s", GITHUB, found[0]);
}

/* What the source gives, else what the abstract or the comments name; NULL: none. */
static const char *repository_of(struct arena *arena, const struct metadata *paper,
                                 const char *abstract)
{
	if (paper->github_url)
		return url_canonical(arena, paper->github_url);
	const char *found = find_repository(arena, abstract);
	return found ? found : find_repository(arena, paper->comments);
}

static void add_optional(yyjson_mut_doc *doc, yyjson_mut_val *row, const char *name,
                         const char *text)
{
	if (text && *text)
		yyjson_mut_obj_add_strcpy(doc, row, name, text);
}

static void add_time(yyjson_mut_doc *doc, yyjson_mut_val *row, const char *name, int64_t time_ms)
{
	char text[TIME_TEXT_LEN + 1];
	if (time_ms <= 0)
		return;
	time_format(time_ms, text);
	yyjson_mut_obj_add_strcpy(doc, row, name, text);
}

/* Add the authors and categories. False: a category is malformed. */
static bool add_lists(struct arena *arena, yyjson_mut_doc *doc, yyjson_mut_val *row,
                      const struct metadata *paper)
{
	yyjson_mut_val *authors = yyjson_mut_obj_add_arr(doc, row, "authors");
	for (size_t i = 0; i < paper->author_count && i < AUTHORS_MAX; i++)
		yyjson_mut_arr_add_str(doc, authors, paper->authors[i]);
	yyjson_mut_val *categories = yyjson_mut_obj_add_arr(doc, row, "categories");
	char *rest = arena_strdup(arena, paper->categories ? paper->categories : "");
	size_t count = 0;
	for (char *word; (word = strsep(&rest, " \t\n")) && count < CATEGORIES_MAX;) {
		if (!*word)
			continue;
		if (!category_is(word))
			return false;
		yyjson_mut_arr_add_str(doc, categories, word);
		count++;
	}
	return true;
}

static void add_doi(struct arena *arena, yyjson_mut_doc *doc, yyjson_mut_val *row, const char *text)
{
	const char *dois = metadata_collapse_space(arena, text ? text : "");
	size_t length = strcspn(dois, " ");
	if (strncmp(dois, "10.", 3) == 0 && length <= DOI_MAX)
		add_optional(doc, row, "doi", arena_strndup(arena, dois, length));
}

/* Whether github_url is valid by the same rule as in PUT. True for NULL. */
static bool is_valid_url(struct arena *arena, const char *text)
{
	static const struct field GITHUB_URL = JSON_URL("github_url", OPTIONAL);
	struct field_value value;
	return !text || !*text || !field_check_text(arena, &GITHUB_URL, text, &value);
}

yyjson_mut_val *metadata_row(struct arena *arena, yyjson_mut_doc *doc, const struct metadata *paper,
                             const char **ret_why)
{
	char id[PAPER_ID_MAX + 1];
	const char *title = metadata_collapse_space(arena, paper->title ? paper->title : "");
	const char *abstract =
		metadata_collapse_space(arena, paper->abstract ? paper->abstract : "");
	if (!paper->id || !paper_id_parse(paper->id, id))
		*ret_why = "the id is neither an arXiv id nor a source and DOI";
	else if (!*title)
		*ret_why = "there is no title";
	else if (utf8_count(title, strlen(title)) > TITLE_MAX)
		*ret_why = "the title has over 1000 characters";
	else if (utf8_count(abstract, strlen(abstract)) > ABSTRACT_MAX)
		*ret_why = "the abstract has over 50000 characters";
	else if (!is_valid_url(arena, paper->github_url))
		*ret_why = "github_url is not an absolute http or https URL";
	else
		*ret_why = NULL;
	if (*ret_why)
		return NULL;
	yyjson_mut_val *row = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_strcpy(doc, row, "arxiv_id", id);
	yyjson_mut_obj_add_str(doc, row, "title", title);
	yyjson_mut_obj_add_str(doc, row, "abstract", abstract);
	if (!add_lists(arena, doc, row, paper)) {
		*ret_why = "a category does not have the form of cs.LG";
		return NULL;
	}
	add_time(doc, row, "published_at", paper->published_at_ms);
	add_time(doc, row, "updated_at", paper->updated_at_ms);
	add_optional(doc, row, "github_url", repository_of(arena, paper, abstract));
	add_optional(doc, row, "license", paper->license);
	if (paper->comments)
		add_optional(doc, row, "comments",
		             utf8_shorten(arena, metadata_collapse_space(arena, paper->comments),
		                          COMMENTS_MAX));
	add_doi(arena, doc, row, paper->doi);
	plain_row(arena, doc, row);
	return row;
}

/* --- From a line ------------------------------------------------------------------------------ */

/* The strings of `array`, white space collapsed; NULL: an item is not a string. */
static const char *const *texts_of(struct arena *arena, yyjson_val *array, size_t *ret_count)
{
	const char **texts = arena_array(arena, yyjson_arr_size(array) + 1, sizeof(*texts));
	size_t index, count;
	yyjson_val *item;
	yyjson_arr_foreach (array, index, count, item) {
		if (!yyjson_is_str(item))
			return NULL;
		texts[index] = metadata_collapse_space(arena, yyjson_get_str(item));
	}
	*ret_count = yyjson_arr_size(array);
	return texts;
}

/* Full names from [["Hu", "Edward J.", ""], …]. */
static const char *const *parsed_authors(struct arena *arena, yyjson_val *array, size_t *ret_count)
{
	const char **names = arena_array(arena, yyjson_arr_size(array) + 1, sizeof(*names));
	size_t index, count, made = 0;
	yyjson_val *item;
	yyjson_arr_foreach (array, index, count, item) {
		const char *name =
			metadata_author_name(arena, yyjson_get_str(yyjson_arr_get(item, 1)),
		                             yyjson_get_str(yyjson_arr_get(item, 0)),
		                             yyjson_get_str(yyjson_arr_get(item, 2)));
		if (*name)
			names[made++] = name;
	}
	*ret_count = made;
	return names;
}

/* Full names from "A. One, B. Two and C. Three". */
static const char *const *split_authors(struct arena *arena, const char *text, size_t *ret_count)
{
	char *rest = metadata_collapse_space(arena, text);
	for (char *and; (and = strstr(rest, " and "));)
		memcpy(and, ",    ", 5);
	const char **names = arena_array(arena, strlen(text) / 2 + 2, sizeof(*names));
	size_t count = 0;
	for (char *name; (name = strsep(&rest, ","));) {
		name = metadata_collapse_space(arena, name);
		if (*name)
			names[count++] = name;
	}
	*ret_count = count;
	return names;
}

/* Milliseconds from "Mon, 2 Apr 2007 19:18:42 GMT", RFC 3339 or YYYY-MM-DD; 0: NULL, another
 * format, or not after 1970. */
static int64_t time_of(const char *text)
{
	int64_t time_ms;
	if (!text)
		return 0;
	if (time_parse(text, strlen(text), &time_ms) || date_parse(text, strlen(text), &time_ms))
		return time_ms;
	time_t seconds = curl_getdate(text, NULL);
	return seconds > 0 ? (int64_t)seconds * 1000 : 0;
}

static void read_times(yyjson_val *line, struct metadata *paper)
{
	yyjson_val *versions = json_get(line, "versions");
	paper->published_at_ms = time_of(json_get_text(yyjson_arr_get_first(versions), "created"));
	paper->updated_at_ms = time_of(json_get_text(yyjson_arr_get_last(versions), "created"));
	if (!paper->published_at_ms)
		paper->published_at_ms = time_of(json_get_text(line, "published_at"));
	if (!paper->updated_at_ms)
		paper->updated_at_ms = time_of(json_get_text(line, "update_date"));
	if (!paper->published_at_ms)
		paper->published_at_ms = paper->updated_at_ms;
	if (!paper->updated_at_ms)
		paper->updated_at_ms = paper->published_at_ms;
}

static bool read_authors(struct arena *arena, yyjson_val *line, struct metadata *paper)
{
	yyjson_val *parsed = json_get(line, "authors_parsed");
	yyjson_val *authors = json_get(line, "authors");
	if (yyjson_is_arr(parsed))
		paper->authors = parsed_authors(arena, parsed, &paper->author_count);
	else if (yyjson_is_arr(authors))
		paper->authors = texts_of(arena, authors, &paper->author_count);
	else if (yyjson_is_str(authors))
		paper->authors =
			split_authors(arena, yyjson_get_str(authors), &paper->author_count);
	else
		return !authors || yyjson_is_null(authors);
	return paper->authors;
}

static bool read_categories(struct arena *arena, yyjson_val *line, struct metadata *paper)
{
	yyjson_val *categories = json_get(line, "categories");
	size_t count = 0;
	if (!yyjson_is_arr(categories)) {
		paper->categories = yyjson_get_str(categories);
		return !categories || paper->categories || yyjson_is_null(categories);
	}
	const char *const *names = texts_of(arena, categories, &count);
	struct buf joined = {.arena = arena};
	buf_puts(&joined, "");
	for (size_t i = 0; names && i < count; i++)
		buf_printf(&joined, "%s ", names[i]);
	paper->categories = joined.data;
	return names;
}

/* Check the type of the text members. Returns NULL, or which one is wrong. */
static const char *check_texts(struct arena *arena, yyjson_val *line)
{
	static const char *const NAMES[] = {"id",   "_id",        "title",  "abstract",
	                                    "text", "github_url", "license"};
	for (size_t i = 0; i < ARRAY_LEN(NAMES); i++) {
		yyjson_val *value = json_get(line, NAMES[i]);
		if (value && !yyjson_is_str(value) && !yyjson_is_null(value))
			return arena_printf(arena, "%s is not a string", NAMES[i]);
	}
	return NULL;
}

enum err_code metadata_read(struct arena *arena, yyjson_val *line, struct metadata *ret_paper,
                            const char **ret_why)
{
	struct metadata paper = {
		.title = json_get_text(line, "title"),
		.github_url = json_get_text(line, "github_url"),
		.license = json_get_text(line, "license"),
		.comments = json_get_text(line, "comments"),
		.doi = json_get_text(line, "doi"),
	};
	bool is_snapshot = json_get(line, "id");
	paper.id = json_get_text(line, is_snapshot ? "id" : "_id");
	paper.abstract = json_get_text(line, is_snapshot ? "abstract" : "text");
	read_times(line, &paper);
	*ret_why = check_texts(arena, line);
	if (*ret_why)
		return ERR_INVALID;
	if (!yyjson_is_obj(line))
		*ret_why = "it is not an object";
	else if (!paper.id)
		*ret_why = "there is no id";
	else if (!read_authors(arena, line, &paper))
		*ret_why = "authors has an unknown form";
	else if (!read_categories(arena, line, &paper))
		*ret_why = "categories has an unknown form";
	*ret_paper = paper;
	return *ret_why ? ERR_INVALID : ERR_NONE;
}
