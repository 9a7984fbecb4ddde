#include "harvest/oai.h"

#include "base/timefmt.h"
#include "harvest/xml_repair.h"

#include <expat.h>

#include <stdlib.h>
#include <string.h>

#define AUTHORS_MAX 5000
#define RECORDS_MAX 100000 /* of a page: arXiv's have about a thousand */

static const char TOO_MANY_RECORDS[] = "it has more than 100000 records";

struct reader {
	struct arena *arena;
	struct oai_page *page;
	struct source_record *record;             /* the open record; NULL: none */
	struct buf text;                          /* character data of the open element */
	const char *keyname, *forenames, *suffix; /* of the open author */
	const char **authors;                     /* of the open record */
	size_t author_count;
	XML_Parser parser;
	bool is_answer;    /* there is an OAI-PMH element */
	const char *fault; /* why stop() stopped the parser; NULL: it did not */
};

/* "2401.01234" of a header's identifier `oai:arXiv.org:2401.01234`. */
static const char *bare_id(const char *identifier)
{
	const char *colon = strrchr(identifier, ':');
	return colon ? colon + 1 : identifier;
}

static int64_t time_ms(const char *text)
{
	int64_t at_ms;
	return time_parse(text, strlen(text), &at_ms) ? at_ms : 0;
}

static int64_t day_ms(const char *text)
{
	int64_t time_ms;
	return date_parse(text, strlen(text), &time_ms) ? time_ms : 0;
}

static void stop(struct reader *reader, const char *fault)
{
	reader->fault = fault;
	XML_StopParser(reader->parser, XML_FALSE);
}

/* Append the author that was read; the array doubles whenever the count is a power of two. */
static void end_author(struct reader *reader)
{
	size_t count = reader->author_count, size = sizeof(*reader->authors);
	if (count == AUTHORS_MAX)
		return;
	if ((count & (count - 1)) == 0)
		reader->authors = arena_grow(reader->arena, reader->authors, count * size,
		                             MAX_OF(2 * count, (size_t)1) * size);
	reader->authors[reader->author_count++] =
		metadata_author_name(reader->arena, reader->forenames, reader->keyname,
	                             reader->suffix);
	reader->keyname = reader->forenames = reader->suffix = NULL;
}

static void end_record(struct reader *reader)
{
	struct metadata *paper = &reader->record->paper;
	paper->authors = reader->authors;
	paper->author_count = reader->author_count;
	if (!paper->updated_at_ms)
		paper->updated_at_ms = paper->published_at_ms;
	reader->authors = NULL;
	reader->author_count = 0;
	STAILQ_INSERT_TAIL(&reader->page->list.records, reader->record, entry);
	reader->record = NULL;
	if (++reader->page->list.count > RECORDS_MAX)
		stop(reader, TOO_MANY_RECORDS);
}

/* An element inside a record ends; `text` is its content. */
static void end_in_record(struct reader *reader, const char *name, const char *text)
{
	struct metadata *paper = &reader->record->paper;
	if (strcmp(name, "identifier") == 0)
		paper->id = bare_id(text);
	else if (strcmp(name, "id") == 0)
		paper->id = text;
	else if (strcmp(name, "title") == 0)
		paper->title = text;
	else if (strcmp(name, "abstract") == 0)
		paper->abstract = text;
	else if (strcmp(name, "categories") == 0)
		paper->categories = text;
	else if (strcmp(name, "comments") == 0)
		paper->comments = text;
	else if (strcmp(name, "license") == 0)
		paper->license = text;
	else if (strcmp(name, "doi") == 0)
		paper->doi = text;
	else if (strcmp(name, "created") == 0)
		paper->published_at_ms = day_ms(text);
	else if (strcmp(name, "updated") == 0)
		paper->updated_at_ms = day_ms(text);
	else if (strcmp(name, "keyname") == 0)
		reader->keyname = text;
	else if (strcmp(name, "forenames") == 0)
		reader->forenames = text;
	else if (strcmp(name, "suffix") == 0)
		reader->suffix = text;
	else if (strcmp(name, "author") == 0)
		end_author(reader);
	else if (strcmp(name, "record") == 0)
		end_record(reader);
}

static const char *attribute(const char **attributes, const char *name)
{
	for (; *attributes; attributes += 2)
		if (strcmp(attributes[0], name) == 0)
			return attributes[1];
	return NULL;
}

/* The name without its namespace prefix: `record` of `oai:record`. */
static const char *bare_name(const char *name)
{
	const char *colon = strrchr(name, ':');
	return colon ? colon + 1 : name;
}

static void on_start(void *context, const char *name, const char **attributes)
{
	struct reader *reader = context;
	const char *value;
	name = bare_name(name);
	reader->text.length = 0;
	if (strcmp(name, "OAI-PMH") == 0)
		reader->is_answer = true;
	else if (strcmp(name, "record") == 0 && !reader->record)
		reader->record = arena_new_of(reader->arena, struct source_record);
	else if (strcmp(name, "header") == 0 && reader->record)
		reader->record->is_deleted =
			(value = attribute(attributes, "status")) && strcmp(value, "deleted") == 0;
	else if (strcmp(name, "resumptionToken") == 0)
		reader->page->list.complete = (value = attribute(attributes, "completeListSize"))
		                                      ? strtol(value, NULL, 10)
		                                      : 0;
	else if (strcmp(name, "error") == 0)
		reader->page->error =
			arena_strdup(reader->arena,
		                     (value = attribute(attributes, "code")) ? value : "error");
}

/* OAI-PMH answers have no document type. Refusing it excludes entity expansion and external
 * entities. */
static void on_doctype(void *context, const char *name, const char *system_id,
                       const char *public_id, int has_subset)
{
	(void)name, (void)system_id, (void)public_id, (void)has_subset;
	stop(context, "it has a document type");
}

static void on_text(void *context, const char *text, int length)
{
	struct reader *reader = context;
	buf_add(&reader->text, text, (size_t)length);
}

static void on_end(void *context, const char *name)
{
	struct reader *reader = context;
	name = bare_name(name);
	const char *text = metadata_collapse_space(reader->arena,
	                                           reader->text.length ? reader->text.data : "");
	if (strcmp(name, "resumptionToken") == 0)
		reader->page->list.token = *text ? text : NULL;
	else if (strcmp(name, "responseDate") == 0)
		reader->page->list.answered_at_ms = time_ms(text);
	else if (strcmp(name, "error") == 0)
		reader->page->error_text = text;
	else if (reader->record)
		end_in_record(reader, name, text);
	reader->text.length = 0;
}

/* Read `xml` as it is. */
static enum err_code parse(struct arena *arena, const char *xml, size_t length,
                           struct oai_page *ret_page, const char **ret_why)
{
	struct oai_page page = {0};
	struct reader reader = {.arena = arena, .page = &page, .text = {.arena = arena}};
	STAILQ_INIT(&page.list.records);
	XML_Parser parser = XML_ParserCreate(NULL);
	require(parser);
	reader.parser = parser;
	XML_SetUserData(parser, &reader);
	XML_SetStartDoctypeDeclHandler(parser, on_doctype);
	XML_SetElementHandler(parser, on_start, on_end);
	XML_SetCharacterDataHandler(parser, on_text);
	enum XML_Status status = XML_Parse(parser, xml, (int)length, 1);
	*ret_why = NULL;
	if (status != XML_STATUS_OK)
		*ret_why = reader.fault ? reader.fault : XML_ErrorString(XML_GetErrorCode(parser));
	else if (!reader.is_answer)
		*ret_why = "it is not an OAI-PMH answer";
	XML_ParserFree(parser);
	if (*ret_why)
		return reader.fault ? ERR_FORBIDDEN : ERR_MALFORMED;
	*ret_page = page;
	STAILQ_INIT(&ret_page->list.records);
	STAILQ_CONCAT(&ret_page->list.records, &page.list.records);
	return ERR_NONE;
}

/* --- Pages that are not well-formed ----------------------------------------------------------- */

/* A part of a text. */
struct part {
	const char *begin, *end;
};

/* Whether a tag that goes on at `at`, behind its `<`, is of the element, with any prefix. */
static bool is_tag_of(const char *at, const char *end, const char *name)
{
	size_t wanted = strlen(name), length = 0;
	while (at + length < end && !strchr(" \t\r\n/<>", at[length]))
		length++;
	if (length < wanted || memcmp(at + length - wanted, name, wanted) != 0)
		return false;
	return length == wanted || at[length - wanted - 1] == ':';
}

/* Find the next tag of an element: `slash` is "/" for an end tag and "" for a start tag. A `>` is
 * looked for once, behind the name: a page may have millions of `<` and no `>`. */
static bool find_tag(struct part within, const char *slash, const char *name, struct part *ret_tag)
{
	const char *at = within.begin, *end = within.end;
	size_t skip = strlen(slash);
	for (; (at = memchr(at, '<', (size_t)(end - at))); at++) {
		const char *word = at + 1 + skip;
		if (word > end || memcmp(at + 1, slash, skip) != 0 || !is_tag_of(word, end, name))
			continue;
		const char *close = memchr(at, '>', (size_t)(end - at));
		if (!close)
			return false;
		*ret_tag = (struct part){at, close + 1};
		return true;
	}
	return false;
}

/* Find the next record of a page. One without an end tag goes up to the next record, or to the end
 * of the list. */
static bool find_record(struct part within, struct part *ret_record)
{
	struct part start, tag;
	if (!find_tag(within, "", "record", &start))
		return false;
	struct part rest = {start.end, within.end};
	if (find_tag(rest, "", "record", &tag) || find_tag(rest, "/", "ListRecords", &tag))
		rest.end = tag.begin;
	ret_record->begin = start.begin;
	ret_record->end = find_tag(rest, "/", "record", &tag) ? tag.end : rest.end;
	return true;
}

/* The id in the header of a record that cannot be parsed; NULL: there is none. */
static const char *find_id(struct arena *arena, struct part record)
{
	struct part tag;
	if (!find_tag(record, "", "identifier", &tag))
		return NULL;
	return bare_id(arena_strndup(arena, tag.end, strcspn(tag.end, "< \t\r\n")));
}

static void read_record(struct arena *arena, struct part text, struct oai_page *page)
{
	struct oai_page one;
	const char *why;
	struct buf xml = {.arena = arena};
	buf_puts(&xml, "<OAI-PMH>");
	buf_add(&xml, text.begin, (size_t)(text.end - text.begin));
	buf_puts(&xml, "</OAI-PMH>");
	if (parse(arena, xml.data, xml.length, &one, &why)) {
		struct source_record *record = arena_new_of(arena, struct source_record);
		record->paper.id = find_id(arena, text);
		record->fault = arena_printf(arena, "its XML cannot be read: %s", why);
		STAILQ_INSERT_TAIL(&page->list.records, record, entry);
		page->list.count++;
		return;
	}
	STAILQ_CONCAT(&page->list.records, &one.list.records);
	page->list.count += one.list.count;
}

/* Read the page without its records, and then these one by one. */
static enum err_code parse_apart(struct arena *arena, const char *xml, size_t length,
                                 struct oai_page *page, const char **ret_why)
{
	struct buf frame = {.arena = arena};
	struct part rest = {xml, xml + length}, record;
	while (find_record(rest, &record)) {
		buf_add(&frame, rest.begin, (size_t)(record.begin - rest.begin));
		rest.begin = record.end;
	}
	buf_add(&frame, rest.begin, (size_t)(rest.end - rest.begin));
	enum err_code code = parse(arena, frame.data, frame.length, page, ret_why);
	rest.begin = xml;
	for (; !code && find_record(rest, &record); rest.begin = record.end) {
		read_record(arena, record, page);
		if (page->list.count > RECORDS_MAX) {
			*ret_why = TOO_MANY_RECORDS;
			return ERR_MALFORMED;
		}
	}
	return code;
}

enum err_code oai_parse(struct arena *arena, const char *xml, size_t length,
                        struct oai_page *ret_page, const char **ret_why)
{
	struct part whole = {xml, xml + length}, record;
	enum err_code code = parse(arena, xml, length, ret_page, ret_why);
	if (code == ERR_MALFORMED && length && find_record(whole, &record)) {
		struct buf repaired = xml_repair(arena, xml, length);
		code = parse(arena, repaired.data, repaired.length, ret_page, ret_why);
		if (code == ERR_MALFORMED)
			code = parse_apart(arena, repaired.data, repaired.length, ret_page,
			                   ret_why);
	}
	return code ? ERR_MALFORMED : ERR_NONE;
}
