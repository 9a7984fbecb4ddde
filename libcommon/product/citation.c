#include "product/citation.h"

#include "json/json.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define YEAR_DIGITS 4
#define MONTH_AT    5 /* in `2022-05-27T…` */
#define DAY_AT      8

/* --- What is common to the formats ------------------------------------------------------------ */

struct citation {
	const char *key;     /* `arXiv:2205.14135` */
	const char *archive; /* `arXiv` */
	const char *eprint;  /* the id there */
	const char *date;    /* `2022-05-27T17:53:09.000Z`; NULL: not known */
	yyjson_val *asset;
};

/* Write the value of a field. */
typedef void value_fn(struct buf *out, const char *text);

/* The id of a paper, `biorxiv:10.1101/2026.11.20.123456`, has its archive before a colon; that of
 * arXiv has none. */
static const char *archive_of(struct arena *arena, const char *id, const char **ret_eprint)
{
	static const char *const ARCHIVES[] = {"arXiv", "bioRxiv", "medRxiv"};
	const char *colon = strchr(id, ':');
	*ret_eprint = colon ? colon + 1 : id;
	if (!colon)
		return ARCHIVES[0];
	const char *name = arena_strndup(arena, id, (size_t)(colon - id));
	for (size_t i = 0; i < ARRAY_LEN(ARCHIVES); i++)
		if (strcasecmp(ARCHIVES[i], name) == 0)
			return ARCHIVES[i];
	return name;
}

/* BibTeX takes other signs in a key for the end of it, or for a comment. */
static const char *key_of(struct arena *arena, const char *archive, const char *eprint)
{
	static const char PLAIN[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.:/-";
	struct buf key = {.arena = arena};
	buf_printf(&key, "%s:", archive);
	for (; *eprint; eprint++)
		if (strchr(PLAIN, *eprint))
			buf_add(&key, eprint, 1);
		else
			buf_printf(&key, "_%02x", (unsigned char)*eprint);
	return key.data;
}

static struct citation citation_of(struct arena *arena, yyjson_val *asset)
{
	struct citation citation = {.asset = asset};
	citation.archive = archive_of(arena, json_get_text(asset, "arxiv_id"), &citation.eprint);
	citation.key = key_of(arena, citation.archive, citation.eprint);
	citation.date = json_get_text(asset, "published_at");
	return citation;
}

/* --- Names ------------------------------------------------------------------------------------ */

/* The parts of a full name. Without a family name, `whole` is the name of a group, or one that has
 * its own order. */
struct name {
	const char *whole;
	const char *family;
	const char *given;
	const char *suffix; /* "": none */
};

static bool is_word_of(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (strcasecmp(word, *words) == 0)
			return true;
	return false;
}

/* The name without its last word, which *ret_word is. */
static const char *without_last(struct arena *arena, const char *name, const char **ret_word)
{
	const char *space = strrchr(name, ' ');
	*ret_word = space ? space + 1 : name;
	return space ? arena_strndup(arena, name, (size_t)(space - name)) : "";
}

static bool is_particle(const char *word)
{
	return *word >= 'a' && *word <= 'z';
}

/* "Laurens van der Maaten" has the family name "van der Maaten", "Edward J. Hu Jr." "Hu". */
static struct name name_split(struct arena *arena, const char *whole)
{
	static const char *const SUFFIXES[] = {"Jr.", "Jr", "Sr.", "Sr", "II", "III", "IV", NULL};
	static const char *const GROUPS[] = {"Collaboration", "Consortium", "Group",
	                                     "Project",       "Team",       NULL};
	struct name name = {.whole = whole, .suffix = ""};
	const char *last, *rest = without_last(arena, whole, &last);
	if (!*rest || strchr(whole, ',') || is_word_of(last, GROUPS))
		return name;
	if (is_word_of(last, SUFFIXES) && strchr(rest, ' ')) {
		name.suffix = last;
		rest = without_last(arena, rest, &last);
	}
	name.family = last;
	const char *word, *before = without_last(arena, rest, &word);
	while (*before && is_particle(word)) {
		name.family = arena_printf(arena, "%s %s", word, name.family);
		rest = before;
		before = without_last(arena, rest, &word);
	}
	name.given = rest;
	return name;
}

/* --- BibTeX ----------------------------------------------------------------------------------- */

/* What LaTeX would not print as it is. An escaped brace still counts as one for BibTeX, so braces
 * are named. */
static const char *const LATEX[128] = {
	['\\'] = "\\textbackslash{}",
	['{'] = "\\textbraceleft{}",
	['}'] = "\\textbraceright{}",
	['~'] = "\\textasciitilde{}",
	['^'] = "\\textasciicircum{}",
	['<'] = "\\textless{}",
	['>'] = "\\textgreater{}",
	['|'] = "\\textbar{}",
	['&'] = "\\&",
	['%'] = "\\%",
	['$'] = "\\$",
	['#'] = "\\#",
	['_'] = "\\_",
};

static void bibtex_text(struct buf *out, const char *text)
{
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;
		if (byte < 0x20 || byte == 0x7f)
			buf_puts(out, " ");
		else if (byte < 128 && LATEX[byte])
			buf_puts(out, LATEX[byte]);
		else
			buf_add(out, text, 1);
	}
}

/* An address or id, which BibTeX styles print verbatim. */
static void bibtex_verbatim(struct buf *out, const char *text)
{
	for (; *text; text++)
		if (strchr("{}\\", *text) || (unsigned char)*text <= 0x20)
			buf_printf(out, "%%%02X", (unsigned char)*text);
		else
			buf_add(out, text, 1);
}

/* Styles change capitals in titles unless a second pair of braces protects them. */
static void bibtex_protected(struct buf *out, const char *text)
{
	buf_puts(out, "{");
	bibtex_text(out, text);
	buf_puts(out, "}");
}

static void bibtex_field(struct buf *out, const char *name, const char *text, value_fn *write)
{
	if (!text || !*text)
		return;
	buf_printf(out, "  %s = {", name);
	write(out, text);
	buf_puts(out, "},\n");
}

static void bibtex_name(struct buf *out, const char *whole)
{
	struct name name = name_split(out->arena, whole);
	if (!name.family) {
		bibtex_protected(out, whole);
		return;
	}
	bibtex_text(out, name.family);
	if (*name.suffix) {
		buf_puts(out, ", ");
		bibtex_text(out, name.suffix);
	}
	buf_puts(out, ", ");
	bibtex_text(out, name.given);
}

static void bibtex_authors(struct buf *out, yyjson_val *authors)
{
	size_t index, count;
	yyjson_val *author;
	if (yyjson_arr_size(authors) == 0)
		return;
	buf_puts(out, "  author = {");
	yyjson_arr_foreach (authors, index, count, author) {
		buf_puts(out, index ? " and " : "");
		bibtex_name(out, yyjson_get_str(author));
	}
	buf_puts(out, "},\n");
}

static void bibtex_date(struct buf *out, const char *date)
{
	static const char MONTHS[] = "janfebmaraprmayjunjulaugsepoctnovdec";
	if (!date)
		return;
	int month = (date[MONTH_AT] - '0') * 10 + date[MONTH_AT + 1] - '0';
	buf_printf(out, "  year = {%.*s},\n  month = %.3s,\n", YEAR_DIGITS, date,
	           &MONTHS[(size_t)(month - 1) * 3]);
}

static void bibtex_add(struct buf *out, const struct citation *citation)
{
	yyjson_val *asset = citation->asset;
	yyjson_val *primary = yyjson_arr_get_first(json_get(asset, "categories"));
	buf_printf(out, "%s@misc{%s,\n", out->length ? "\n" : "", citation->key);
	bibtex_field(out, "title", json_get_text(asset, "title"), bibtex_protected);
	bibtex_authors(out, json_get(asset, "authors"));
	bibtex_date(out, citation->date);
	bibtex_field(out, "eprint", citation->eprint, bibtex_verbatim);
	bibtex_field(out, "archiveprefix", citation->archive, bibtex_text);
	bibtex_field(out, "primaryclass", yyjson_get_str(primary), bibtex_text);
	bibtex_field(out, "doi", json_get_text(asset, "doi"), bibtex_verbatim);
	bibtex_field(out, "url", json_get_text(asset, "url"), bibtex_verbatim);
	bibtex_field(out, "note", json_get_text(asset, "comments"), bibtex_text);
	bibtex_field(out, "abstract", json_get_text(asset, "abstract"), bibtex_text);
	buf_puts(out, "}\n");
}

/* --- RIS -------------------------------------------------------------------------------------- */

static void ris_line(struct buf *out, const char *tag, const char *text)
{
	if (!text || !*text)
		return;
	buf_printf(out, "%s  - ", tag);
	for (; *text; text++)
		buf_add(out, (unsigned char)*text < 0x20 || *text == 0x7f ? " " : text, 1);
	buf_puts(out, "\r\n");
}

static void ris_authors(struct buf *out, yyjson_val *authors)
{
	size_t index, count;
	yyjson_val *author;
	yyjson_arr_foreach (authors, index, count, author) {
		struct name name = name_split(out->arena, yyjson_get_str(author));
		const char *text = name.whole;
		if (name.family)
			text = arena_printf(out->arena, "%s, %s%s%s", name.family, name.given,
			                    *name.suffix ? ", " : "", name.suffix);
		ris_line(out, "AU", text);
	}
}

static void ris_date(struct buf *out, const char *date)
{
	if (!date)
		return;
	buf_printf(out, "PY  - %.*s\r\nDA  - %.*s/%.2s/%.2s\r\n", YEAR_DIGITS, date, YEAR_DIGITS,
	           date, date + MONTH_AT, date + DAY_AT);
}

static void ris_add(struct buf *out, const struct citation *citation)
{
	size_t index, count;
	yyjson_val *category, *asset = citation->asset;
	ris_line(out, "TY", "UNPB");
	ris_line(out, "ID", citation->key);
	ris_line(out, "TI", json_get_text(asset, "title"));
	ris_authors(out, json_get(asset, "authors"));
	ris_date(out, citation->date);
	ris_line(out, "PB", citation->archive);
	ris_line(out, "DO", json_get_text(asset, "doi"));
	ris_line(out, "UR", json_get_text(asset, "url"));
	yyjson_arr_foreach (json_get(asset, "categories"), index, count, category)
		ris_line(out, "KW", yyjson_get_str(category));
	ris_line(out, "N1", json_get_text(asset, "comments"));
	ris_line(out, "AB", json_get_text(asset, "abstract"));
	buf_puts(out, "ER  - \r\n");
}

/* --- Lists ------------------------------------------------------------------------------------ */

static bool is_known(const struct citation *citations, size_t count, const char *key)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(citations[i].key, key) == 0)
			return true;
	return false;
}

const char *citation_list(struct arena *arena, enum citation_format format, yyjson_val *list,
                          const char *member, size_t *ret_length)
{
	struct citation *citations =
		arena_array(arena, yyjson_arr_size(list) + 1, sizeof(*citations));
	struct buf out = {.arena = arena};
	size_t index, count, added = 0;
	yyjson_val *item;
	yyjson_arr_foreach (list, index, count, item) {
		yyjson_val *asset = member ? json_get(item, member) : item;
		if (!json_get_text(asset, "arxiv_id"))
			continue;
		citations[added] = citation_of(arena, asset);
		if (is_known(citations, added, citations[added].key))
			continue;
		if (format == CITATION_BIBTEX)
			bibtex_add(&out, &citations[added]);
		else
			ris_add(&out, &citations[added]);
		added++;
	}
	*ret_length = out.length;
	return out.data ? out.data : "";
}
