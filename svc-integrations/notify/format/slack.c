#include "notify/format/slack.h"

#include "base/base.h"
#include "base/utf8.h"
#include "json/json.h"

#include <string.h>

#define TEXT_MAX    300 /* characters of a title, or of another text of others */
#define REASON_MAX  600
#define SECTION_MAX 3000

/* Append a text of others, at most `most` characters, escaped as Slack's mrkdwn asks. */
static void add_escaped(struct buf *out, const char *text, size_t most)
{
	static const struct {
		char character;
		const char *entity;
	} ENTITIES[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}};
	size_t count = 0;
	for (; *text; text++) {
		bool begins = ((unsigned char)*text & 0xC0) != 0x80;
		const char *entity = NULL;
		if (begins && count++ == most) {
			buf_puts(out, "…");
			return;
		}
		for (size_t i = 0; i < ARRAY_LEN(ENTITIES); i++)
			entity = ENTITIES[i].character == *text ? ENTITIES[i].entity : entity;
		if (entity)
			buf_puts(out, entity);
		else
			buf_add(out, (unsigned char)*text < ' ' ? " " : text, 1);
	}
}

/* `<URL|`, with what would end the link or its address percent-encoded. */
static void add_link_begin(struct buf *out, const char *url)
{
	buf_puts(out, "<");
	for (; *url; url++) {
		if (strchr("|<> ", *url))
			buf_printf(out, "%%%02X", (unsigned char)*url);
		else
			buf_add(out, url, 1);
	}
	buf_puts(out, "|");
}

static void add_link(struct buf *out, const char *url, const char *text)
{
	if (url)
		add_link_begin(out, url);
	add_escaped(out, text, TEXT_MAX);
	if (url)
		buf_puts(out, ">");
}

/* The message that is built. */
struct slack {
	struct arena *arena;
	yyjson_mut_doc *doc;
	yyjson_mut_val *blocks;
	size_t characters;
};

static bool has_room(const struct slack *slack, size_t blocks, size_t characters)
{
	return yyjson_mut_arr_size(slack->blocks) + blocks < SLACK_BLOCKS_MAX &&
	       slack->characters + characters < SLACK_CHARACTERS_MAX;
}

static yyjson_mut_val *text_object(struct slack *slack, const char *text)
{
	yyjson_mut_val *object = yyjson_mut_obj(slack->doc);
	yyjson_mut_obj_add_str(slack->doc, object, "type", "mrkdwn");
	yyjson_mut_obj_add_strcpy(slack->doc, object, "text", text);
	yyjson_mut_obj_add_bool(slack->doc, object, "verbatim", true);
	slack->characters += utf8_count(text, strlen(text));
	return object;
}

static void add_section(struct slack *slack, const char *text)
{
	yyjson_mut_val *block = yyjson_mut_arr_add_obj(slack->doc, slack->blocks);
	yyjson_mut_obj_add_str(slack->doc, block, "type", "section");
	yyjson_mut_obj_add_val(slack->doc, block, "text", text_object(slack, text));
}

static void add_context(struct slack *slack, const char *text)
{
	yyjson_mut_val *block = yyjson_mut_arr_add_obj(slack->doc, slack->blocks);
	yyjson_mut_obj_add_str(slack->doc, block, "type", "context");
	yyjson_mut_val *elements = yyjson_mut_obj_add_arr(slack->doc, block, "elements");
	yyjson_mut_arr_add_val(elements, text_object(slack, text));
}

static const char *paper_text(struct arena *arena, const struct content_paper *paper)
{
	struct buf out = {.arena = arena};
	buf_puts(&out, "*");
	add_link(&out, paper->url, paper->title);
	buf_printf(&out, "*\n%s", paper->score);
	for (size_t i = 0; paper->authors[i]; i++) {
		buf_puts(&out, i ? ", " : " · ");
		add_escaped(&out, paper->authors[i], TEXT_MAX);
	}
	if (paper->reason) {
		buf_puts(&out, "\n");
		add_escaped(&out, paper->reason, REASON_MAX);
	}
	return out.data;
}

static const char *paper_actions(struct arena *arena, const struct content_paper *paper)
{
	struct buf out = {.arena = arena};
	for (size_t i = 0; i < paper->action_count; i++) {
		buf_puts(&out, i ? " · " : "");
		add_link(&out, paper->actions[i].url, paper->actions[i].words);
	}
	return out.data;
}

static bool add_paper(struct slack *slack, const struct content_paper *paper)
{
	const char *text = paper_text(slack->arena, paper);
	const char *actions = paper->action_count ? paper_actions(slack->arena, paper) : "";
	size_t characters = utf8_count(text, strlen(text)) + utf8_count(actions, strlen(actions));
	if (!has_room(slack, 2, characters + TEXT_MAX) || strlen(text) > SECTION_MAX)
		return false;
	add_section(slack, text);
	if (paper->action_count)
		add_context(slack, actions);
	return true;
}

/* A paper, below the name of its interest where that begins. */
static bool add_entry(struct slack *slack, const struct content_paper *paper)
{
	struct buf name = {.arena = slack->arena};
	if (paper->interest) {
		if (!has_room(slack, 3, 2 * TEXT_MAX))
			return false;
		add_escaped(&name, paper->interest, TEXT_MAX);
		add_context(slack, name.data);
	}
	return add_paper(slack, paper);
}

static void add_papers(struct slack *slack, const struct content *content)
{
	size_t shown = 0;
	while (shown < content->paper_count && add_entry(slack, &content->papers[shown]))
		shown++;
	if (content->message)
		add_context(slack, content->message);
	if (shown >= content->all_papers)
		return;
	struct buf more = {.arena = slack->arena};
	add_link(&more, content->url,
	         arena_printf(slack->arena, "and %zu more", content->all_papers - shown));
	add_context(slack, more.data);
}

const char *slack_body(struct arena *arena, const struct content *content)
{
	struct slack slack = {.arena = arena, .doc = json_doc_new(arena)};
	yyjson_mut_val *body = yyjson_mut_obj(slack.doc);
	struct buf line = {.arena = arena}, first = {.arena = arena};
	add_escaped(&line, content->sentence, TEXT_MAX);
	add_link(&first, content->url, content->sentence);
	yyjson_mut_obj_add_str(slack.doc, body, "text", line.data);
	slack.characters = utf8_count(line.data, strlen(line.data));
	slack.blocks = yyjson_mut_obj_add_arr(slack.doc, body, "blocks");
	add_section(&slack, first.data);
	add_papers(&slack, content);
	yyjson_mut_obj_add_bool(slack.doc, body, "unfurl_links", false);
	yyjson_mut_obj_add_bool(slack.doc, body, "unfurl_media", false);
	return json_write_mut(arena, body, NULL);
}
