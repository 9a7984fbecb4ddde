#include "notify/format/content.h"

#include "base/base.h"
#include "json/json.h"

#include <string.h>

/* What happened, in words; {member} is the text or number of `data`, {member|words} has words for
 * one that is unknown. */
static const struct sentence {
	const char *type, *words;
} SENTENCES[] = {
	{"recommendations.refreshed", "{count} new papers for {interest_name}"},
	{"digest.ready", "The papers of {local_date}"},
	{"run.started", "{agent|An agent} has started a run on {repo}"},
	{"run.finished", "A run of {agent|an agent} on {repo} has ended: {status}"},
	{"pull_request.opened", "A pull request was opened on {repo}: {title}"},
	{"pull_request.merged", "A pull request was merged on {repo}: {title}"},
	{"pull_request.closed", "A pull request was closed on {repo}: {title}"},
	{"pull_request.reverted", "A pull request was reverted on {repo}: {title}"},
	{"issue.opened", "An issue was opened on {repo}: {title}"},
	{"issue.closed", "An issue was closed on {repo}: {title}"},
	{"provisioning.completed", "An agent was set up on {repo}"},
	{"provisioning.failed", "An agent could not be set up on {repo}: {error}"},
	{"installation.revoked", "{agent|An agent} was revoked on {repo}"},
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
	{"budget.reached", "A budget is reached: {name}"},
	{"cost.unusual", "{title}"},
	{"test.ping", "A test message of expops"},
};

/* The member of `data` that a sentence names, as `name` or `name|words`. */
static void add_member(struct buf *out, yyjson_val *data, const char *member, size_t length)
{
	size_t name = strcspn(member, "|}");
	yyjson_val *value = yyjson_obj_getn(data, member, name);
	if (yyjson_is_str(value))
		buf_puts(out, yyjson_get_str(value));
	else if (yyjson_is_num(value))
		buf_puts(out, json_write(out->arena, value, NULL));
	else if (name < length)
		buf_add(out, member + name + 1, length - name - 1);
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

static const char *score_word(double score)
{
	return score >= 0.75 ? "high" : score >= 0.5 ? "good" : score >= 0.25 ? "fair" : "low";
}

static void read_actions(struct content_paper *ret, struct arena *arena, const char *public_url,
                         const char *recommendation)
{
	static const char *const ACTIONS[CONTENT_ACTIONS][2] = {{"like", "like"},
	                                                        {"dislike", "dislike"},
	                                                        {"plan", "plan an experiment"}};
	for (size_t i = 0; recommendation && i < CONTENT_ACTIONS; i++)
		ret->actions[ret->action_count++] = (struct content_action){
			.words = ACTIONS[i][1],
			.url = arena_printf(arena, "%s/console/?recommendation=%s&signal=%s",
		                            public_url, recommendation, ACTIONS[i][0]),
		};
}

static struct content_paper read_paper(struct arena *arena, yyjson_val *paper,
                                       const char *public_url)
{
	double score = json_get_float(paper, "relevance_score", 0);
	const char *title = json_get_text(paper, "title");
	yyjson_val *authors = json_get(paper, "authors"), *author;
	size_t index, count, shown = 0;
	struct content_paper read = {
		.title = title ? title : "(untitled)",
		.url = json_get_text(paper, "url"),
		.score = arena_printf(arena, "%s (%.2f)", score_word(score), score),
		.reason = json_get_text(paper, "reasoning"),
	};
	authors = authors ? authors : json_get(json_get(paper, "resource"), "authors");
	yyjson_arr_foreach (authors, index, count, author)
		if (index < CONTENT_AUTHORS_MAX && yyjson_is_str(author))
			read.authors[shown++] = yyjson_get_str(author);
	read_actions(&read, arena, public_url, json_get_text(paper, "recommendation_id"));
	return read;
}

static void add_papers(struct content *content, struct arena *arena, yyjson_val *papers,
                       const char *public_url)
{
	size_t index, count;
	yyjson_val *paper;
	content->papers = arena_grow(arena, content->papers,
	                             content->paper_count * sizeof(struct content_paper),
	                             (content->paper_count + yyjson_arr_size(papers)) *
	                                     sizeof(struct content_paper));
	yyjson_arr_foreach (papers, index, count, paper)
		content->papers[content->paper_count++] = read_paper(arena, paper, public_url);
}

/* Papers are in `top`, or in each interest of a digest; how many there were before a message was
 * cut, in `count` or `total`. */
static void read_papers(struct content *content, struct arena *arena, yyjson_val *data,
                        const char *public_url)
{
	size_t index, count;
	yyjson_val *top = json_get(data, "top"), *interests = json_get(data, "interests"),
		   *interest;
	add_papers(content, arena, top, public_url);
	yyjson_arr_foreach (interests, index, count, interest) {
		size_t first = content->paper_count;
		add_papers(content, arena, json_get(interest, "recommendations"), public_url);
		if (content->paper_count > first)
			content->papers[first].interest = json_get_text(interest, "name");
	}
	int64_t told = top         ? json_get_int(data, "count", 0)
	               : interests ? json_get_int(data, "total", 0)
	                           : 0;
	content->all_papers = (size_t)MAX_OF(told, (int64_t)content->paper_count);
}

struct content content_read(struct arena *arena, const char *message, const char *public_url)
{
	yyjson_val *root = json_parse_own(arena, message), *data = json_get(root, "data");
	struct content content = {
		.type = json_get_text(root, "type"),
		.url = json_get_text(data, "url"),
		.message = json_get_text(data, "message"),
	};
	content.sentence = sentence_of(arena, content.type, data);
	read_papers(&content, arena, data, public_url);
	return content;
}
