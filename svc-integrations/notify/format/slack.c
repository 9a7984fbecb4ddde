#include "notify/format/slack.h"

#include "base/base.h"
#include "base/utf8.h"
#include "json/json.h"

#include <string.h>

#define TEXT_MAX    300 /* characters of a title, or of another text of others */
#define REASON_MAX  600
#define SECTION_MAX 3000
#define AUTHORS_MAX 3

/* What happened, in words; {member} is the text or number of `data`. */
static const struct sentence {
	const char *type, *words;
} SENTENCES[] = {
	{"recommendations.refreshed", "{count} new papers for {interest_name}"},
	{"digest.ready", "The papers of {local_date}"},
	{"run.started", "{agent} has started a run on {repo}"},
	{"run.finished", "A run of {agent} on {repo} has ended: {status}"},
	{"pull_request.opened", "A pull request was opened on {repo}: {title}"},
	{"pull_request.merged", "A pull request was merged on {repo}: {title}"},
	{"pull_request.closed", "A pull request was closed on {repo}: {title}"},
	{"pull_request.reverted", "A pull request was reverted on {repo}: {title}"},
	{"issue.opened", "An issue was opened on {repo}: {title}"},
	{"issue.closed", "An issue was closed on {repo}: {title}"},
	{"provisioning.completed", "An agent was set up on {repo}"},
	{"provisioning.failed", "An agent could not be set up on {repo}: {error}"},
	{"installation.revoked", "{agent} was revoked on {repo}"},
	{"experiment.created", "New experiment: {name}"},
	{"experiment.updated", "The experiment {name} has changed: {status}"},
	{"experiment.deleted", "The experiment {name} was deleted"},
	{"experiment.decided", "The experiment {name} was decided: {decision}"},
	{"implementation.finished", "An implementation has ended: {pipeline_status}"},
	{"eval.build_finished", "A build has ended: {status}"},
	{"eval.run_finished", "An evaluation has ended: {status}"},
	{"task.failed", "A task has failed ({kind}): {error}"},
	{"key.revoked", "The key {name} was revoked"},
	{"key.expiring", "The key {name} expires at {expires_at}"},
	{"endpoint.disabled", "Nothing more is sent to {name}: {reason}"},
	{"inbox.item", "{title}"},
	{"budget.warned", "A budget is nearly used up: {name}"},
	{"budget.reached", "A budget is used up: {name}"},
	{"cost.unusual", "Unusual cost on {repo}"},
	{"test.ping", "A test message of expops"},
};

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

/* The member of `data` that a sentence names. */
static void add_member(struct buf *out, yyjson_val *data, const char *name, size_t length)
{
	yyjson_val *value = yyjson_obj_getn(data, name, length);
	if (yyjson_is_str(value))
		buf_puts(out, yyjson_get_str(value));
	else if (yyjson_is_num(value))
		buf_puts(out, json_write(out->arena, value, NULL));
	else
		buf_puts(out, "(unknown)");
}

static const char *sentence_of(struct arena *arena, const char *type, yyjson_val *data)
{
	struct buf out = {.arena = arena};
	const char *words = type;
	for (size_t i = 0; i < ARRAY_LEN(SENTENCES); i++)
		if (strcmp(SENTENCES[i].type, type) == 0)
			words = SENTENCES[i].words;
	while (*words) {
		size_t plain = strcspn(words, "{");
		buf_add(&out, words, plain);
		words += plain;
		size_t name = *words ? strcspn(words + 1, "}") : 0;
		if (name)
			add_member(&out, data, words + 1, name);
		words += name ? name + 2 : 0;
	}
	return out.data;
}

/* The message that is built. */
struct slack {
	struct arena *arena;
	const char *public_url;
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

static const char *score_word(double score)
{
	return score >= 0.75 ? "high" : score >= 0.5 ? "good" : score >= 0.25 ? "fair" : "low";
}

static const char *paper_text(struct arena *arena, yyjson_val *paper)
{
	struct buf out = {.arena = arena};
	double score = json_get_float(paper, "relevance_score", 0);
	const char *title = json_get_text(paper, "title");
	const char *reason = json_get_text(paper, "reasoning");
	yyjson_val *authors = json_get(paper, "authors"), *author;
	size_t index, count;
	buf_puts(&out, "*");
	add_link(&out, json_get_text(paper, "url"), title ? title : "(untitled)");
	buf_printf(&out, "*\n%s (%.2f)", score_word(score), score);
	yyjson_arr_foreach (authors, index, count, author) {
		if (index < AUTHORS_MAX && yyjson_is_str(author)) {
			buf_puts(&out, index ? ", " : " · ");
			add_escaped(&out, yyjson_get_str(author), TEXT_MAX);
		}
	}
	if (reason) {
		buf_puts(&out, "\n");
		add_escaped(&out, reason, REASON_MAX);
	}
	return out.data;
}

/* Links that open the console, which asks and then rates. */
static const char *paper_actions(const struct slack *slack, const char *recommendation)
{
	static const char *const ACTIONS[][2] = {{"like", "like"},
	                                         {"dislike", "dislike"},
	                                         {"plan", "plan an experiment"}};
	struct buf out = {.arena = slack->arena};
	for (size_t i = 0; i < ARRAY_LEN(ACTIONS); i++) {
		buf_puts(&out, i ? " · " : "");
		add_link(&out,
		         arena_printf(slack->arena, "%s/console/?recommendation=%s&signal=%s",
		                      slack->public_url, recommendation, ACTIONS[i][0]),
		         ACTIONS[i][1]);
	}
	return out.data;
}

static bool add_paper(struct slack *slack, yyjson_val *paper)
{
	const char *text = paper_text(slack->arena, paper);
	const char *recommendation = json_get_text(paper, "recommendation_id");
	const char *actions = recommendation ? paper_actions(slack, recommendation) : "";
	size_t characters = utf8_count(text, strlen(text)) + utf8_count(actions, strlen(actions));
	if (!has_room(slack, 2, characters + TEXT_MAX) || strlen(text) > SECTION_MAX)
		return false;
	add_section(slack, text);
	if (recommendation)
		add_context(slack, actions);
	return true;
}

/* Add papers up to the first for which there is no room. How many. */
static size_t add_list(struct slack *slack, yyjson_val *papers)
{
	size_t index, count, shown = 0;
	yyjson_val *paper;
	yyjson_arr_foreach (papers, index, count, paper)
		if (shown == index && add_paper(slack, paper))
			shown++;
	return shown;
}

static void add_more(struct slack *slack, yyjson_val *data, int64_t all, size_t shown)
{
	struct buf more = {.arena = slack->arena};
	if (all <= (int64_t)shown)
		return;
	add_link(&more, json_get_text(data, "url"),
	         arena_printf(slack->arena, "and %lld more", (long long)all - (long long)shown));
	add_context(slack, more.data);
}

static void add_papers(struct slack *slack, yyjson_val *data)
{
	yyjson_val *papers = json_get(data, "top");
	int64_t listed = (int64_t)yyjson_arr_size(papers);
	if (papers)
		add_more(slack, data, MAX_OF(json_get_int(data, "count", 0), listed),
		         add_list(slack, papers));
}

/* The papers of a digest, below the name of their interest; or that there are none. */
static void add_digest(struct slack *slack, yyjson_val *data)
{
	yyjson_val *interests = json_get(data, "interests"), *interest;
	const char *message = json_get_text(data, "message");
	size_t index, count, shown = 0;
	yyjson_arr_foreach (interests, index, count, interest) {
		yyjson_val *papers = json_get(interest, "recommendations");
		struct buf name = {.arena = slack->arena};
		add_escaped(&name, json_get_text(interest, "name"), TEXT_MAX);
		if (yyjson_arr_size(papers) == 0 || !has_room(slack, 3, 2 * TEXT_MAX))
			continue;
		add_context(slack, name.data);
		shown += add_list(slack, papers);
	}
	if (message)
		add_context(slack, message);
	add_more(slack, data, json_get_int(data, "total", 0), shown);
}

const char *slack_body(struct arena *arena, const char *message, const char *public_url)
{
	yyjson_val *root = json_parse_own(arena, message), *data = json_get(root, "data");
	struct slack slack = {.arena = arena, .public_url = public_url, .doc = json_doc_new(arena)};
	yyjson_mut_val *body = yyjson_mut_obj(slack.doc);
	struct buf line = {.arena = arena}, first = {.arena = arena};
	const char *sentence = sentence_of(arena, json_get_text(root, "type"), data);
	add_escaped(&line, sentence, TEXT_MAX);
	add_link(&first, json_get_text(data, "url"), sentence);
	yyjson_mut_obj_add_str(slack.doc, body, "text", line.data);
	slack.characters = utf8_count(line.data, strlen(line.data));
	slack.blocks = yyjson_mut_obj_add_arr(slack.doc, body, "blocks");
	add_section(&slack, first.data);
	add_papers(&slack, data);
	add_digest(&slack, data);
	yyjson_mut_obj_add_bool(slack.doc, body, "unfurl_links", false);
	yyjson_mut_obj_add_bool(slack.doc, body, "unfurl_media", false);
	return json_write_mut(arena, body, NULL);
}
