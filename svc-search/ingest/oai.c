#include "ingest/oai.h"

#include "base/timefmt.h"

#include <expat.h>

#include <stdlib.h>
#include <string.h>

#define AUTHORS_MAX 5000

/* What is being read; `text` gathers the character data of the element that is open. */
struct reader {
	struct arena *arena;
	struct oai_page *page;
	struct oai_record *record, **tail;
	struct buf text;
	const char *keyname, *forenames, *suffix;
	const char **authors;
	size_t author_count;
	XML_Parser parser;
	bool is_answer;    /* the root element was right */
	const char *fault; /* why the parser was stopped; NULL: it was not */
};

/* `oai:arXiv.org:2401.01234` is the header's identifier. */
static const char *bare_id(const char *identifier)
{
	const char *colon = strrchr(identifier, ':');
	return colon ? colon + 1 : identifier;
}

static int64_t day_ms(const char *text)
{
	int64_t time_ms;
	return date_parse(text, strlen(text), &time_ms) ? time_ms : 0;
}

static void end_header_id(struct reader *reader, const char *text)
{
	if (reader->record)
		reader->record->paper.id = bare_id(text);
}

static void end_id(struct reader *reader, const char *text)
{
	reader->record->paper.id = text;
}

static void end_title(struct reader *reader, const char *text)
{
	reader->record->paper.title = text;
}

static void end_abstract(struct reader *reader, const char *text)
{
	reader->record->paper.abstract = text;
}

static void end_categories(struct reader *reader, const char *text)
{
	reader->record->paper.categories = text;
}

static void end_license(struct reader *reader, const char *text)
{
	reader->record->paper.license = text;
}

static void end_created(struct reader *reader, const char *text)
{
	reader->record->paper.published_at_ms = day_ms(text);
}

static void end_updated(struct reader *reader, const char *text)
{
	reader->record->paper.updated_at_ms = day_ms(text);
}

static void end_keyname(struct reader *reader, const char *text)
{
	reader->keyname = text;
}

static void end_forenames(struct reader *reader, const char *text)
{
	reader->forenames = text;
}

static void end_suffix(struct reader *reader, const char *text)
{
	reader->suffix = text;
}

/* Room for one more author: it doubles whenever the count is a power of two. */
static void grow_authors(struct reader *reader)
{
	size_t count = reader->author_count, size = sizeof(*reader->authors);
	if ((count & (count - 1)) == 0)
		reader->authors = arena_grow(reader->arena, reader->authors, count * size,
		                             MAX_OF(2 * count, (size_t)1) * size);
}

static void end_author(struct reader *reader, const char *text)
{
	(void)text;
	if (reader->author_count == AUTHORS_MAX)
		return;
	grow_authors(reader);
	const char *name = metadata_squeeze(reader->arena,
	                                    arena_printf(reader->arena, "%s %s %s",
	                                                 reader->forenames ? reader->forenames : "",
	                                                 reader->keyname ? reader->keyname : "",
	                                                 reader->suffix ? reader->suffix : ""));
	reader->authors[reader->author_count++] = name;
	reader->keyname = reader->forenames = reader->suffix = NULL;
}

static void end_record(struct reader *reader, const char *text)
{
	(void)text;
	struct metadata *paper = &reader->record->paper;
	paper->authors = reader->authors;
	paper->author_count = reader->author_count;
	if (!paper->updated_at_ms)
		paper->updated_at_ms = paper->published_at_ms;
	reader->authors = NULL;
	reader->author_count = 0;
	*reader->tail = reader->record;
	reader->tail = &reader->record->next;
	reader->record = NULL;
	reader->page->count++;
}

static void end_token(struct reader *reader, const char *text)
{
	reader->page->token = *text ? text : NULL;
}

static void end_error(struct reader *reader, const char *text)
{
	reader->page->error_text = text;
}

static const struct element {
	const char *name;
	bool is_of_record; /* only inside a record */
	void (*end)(struct reader *reader, const char *text);
} ELEMENTS[] = {
	{"identifier", true, end_header_id},  {"id", true, end_id},
	{"title", true, end_title},           {"abstract", true, end_abstract},
	{"categories", true, end_categories}, {"license", true, end_license},
	{"created", true, end_created},       {"updated", true, end_updated},
	{"keyname", true, end_keyname},       {"forenames", true, end_forenames},
	{"suffix", true, end_suffix},         {"author", true, end_author},
	{"record", true, end_record},         {"resumptionToken", false, end_token},
	{"error", false, end_error},
};

static const char *attribute(const char **attributes, const char *name)
{
	for (; *attributes; attributes += 2)
		if (strcmp(attributes[0], name) == 0)
			return attributes[1];
	return NULL;
}

/* `oai:record` is `record`. */
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
		reader->record = arena_new_of(reader->arena, struct oai_record);
	else if (strcmp(name, "header") == 0 && reader->record)
		reader->record->is_deleted =
			(value = attribute(attributes, "status")) && strcmp(value, "deleted") == 0;
	else if (strcmp(name, "resumptionToken") == 0)
		reader->page->complete = (value = attribute(attributes, "completeListSize"))
		                                 ? strtol(value, NULL, 10)
		                                 : 0;
	else if (strcmp(name, "error") == 0)
		reader->page->error =
			arena_strdup(reader->arena,
		                     (value = attribute(attributes, "code")) ? value : "error");
}

/* No answer of the protocol has a document type: without one there are no entities to expand or to
 * fetch. */
static void on_doctype(void *context, const char *name, const char *system_id,
                       const char *public_id, int has_subset)
{
	struct reader *reader = context;
	(void)name, (void)system_id, (void)public_id, (void)has_subset;
	reader->fault = "it has a document type";
	XML_StopParser(reader->parser, XML_FALSE);
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
	for (size_t i = 0; i < ARRAY_LEN(ELEMENTS); i++) {
		const struct element *element = &ELEMENTS[i];
		if (strcmp(element->name, name) != 0 || (element->is_of_record && !reader->record))
			continue;
		const char *text = reader->text.length ? reader->text.data : "";
		element->end(reader, metadata_squeeze(reader->arena, text));
		break;
	}
	reader->text.length = 0;
}

enum err_code oai_parse(struct arena *arena, const char *xml, size_t length,
                        struct oai_page *ret_page, const char **ret_why)
{
	struct oai_page page = {0};
	struct reader reader = {.arena = arena, .page = &page, .text = {.arena = arena}};
	reader.tail = &page.records;
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
		*ret_why = arena_printf(arena, "line %lu: %s", XML_GetCurrentLineNumber(parser),
		                        reader.fault ? reader.fault
		                                     : XML_ErrorString(XML_GetErrorCode(parser)));
	else if (!reader.is_answer)
		*ret_why = "it is no OAI-PMH answer";
	XML_ParserFree(parser);
	if (*ret_why)
		return ERR_MALFORMED;
	*ret_page = page;
	return ERR_NONE;
}
