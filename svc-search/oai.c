#include "oai.h"

#include <expat.h>
#include <stdlib.h>
#include <string.h>

#include "timefmt.h"

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
	bool is_answer; /* the root element was right */
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

static void end_author(struct reader *reader, const char *text)
{
	(void)text;
	if (!reader->authors)
		reader->authors = arena_array(reader->arena, AUTHORS_MAX, sizeof(*reader->authors));
	if (reader->author_count == AUTHORS_MAX)
		return;
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

static void on_start(void *context, const char *name, const char **attributes)
{
	struct reader *reader = context;
	reader->text.length = 0;
	if (strcmp(name, "OAI-PMH") == 0)
		reader->is_answer = true;
	if (strcmp(name, "record") == 0 && !reader->record)
		reader->record = arena_new_of(reader->arena, struct oai_record);
	const char *status = attribute(attributes, "status");
	if (reader->record && strcmp(name, "header") == 0 && status)
		reader->record->is_deleted = strcmp(status, "deleted") == 0;
	const char *complete = attribute(attributes, "completeListSize");
	if (complete)
		reader->page->complete = strtol(complete, NULL, 10);
	const char *code = attribute(attributes, "code");
	if (code && strcmp(name, "error") == 0)
		reader->page->error = arena_strdup(reader->arena, code);
}

static void on_text(void *context, const char *text, int length)
{
	struct reader *reader = context;
	buf_add(&reader->text, text, (size_t)length);
}

static void on_end(void *context, const char *name)
{
	struct reader *reader = context;
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
	XML_SetUserData(parser, &reader);
	XML_SetElementHandler(parser, on_start, on_end);
	XML_SetCharacterDataHandler(parser, on_text);
	enum XML_Status status = XML_Parse(parser, xml, (int)length, 1);
	*ret_why = NULL;
	if (status != XML_STATUS_OK)
		*ret_why = arena_printf(arena, "line %lu: %s", XML_GetCurrentLineNumber(parser),
		                        XML_ErrorString(XML_GetErrorCode(parser)));
	else if (!reader.is_answer)
		*ret_why = "it is no OAI-PMH answer";
	XML_ParserFree(parser);
	if (*ret_why)
		return ERR_MALFORMED;
	*ret_page = page;
	return ERR_NONE;
}
