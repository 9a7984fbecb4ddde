#include "base/base.h"
#include "base/outside_text.h"
#include "base/timefmt.h"
#include "evidence/format.h"
#include "implementation/markdown.h"
#include "json/json.h"
#include "service/process.h"

#include <inttypes.h>
#include <string.h>

/* The stops of the way in their order, and which members of `data` each says. */
static const struct stop {
	const char *kind, *name;
	const char *members[4];
} STOPS[] = {
	{"paper", "Paper", {"title", "arxiv_id"}},
	{"recommendation", "Recommended for", {"interest_name", "score", "reasoning"}},
	{"selection", "Selection", {"candidates_considered", "reasoning"}},
	{"run", "Run", {"repo", "run_id", "status", "cost_usd"}},
	{"implementation", "Implementation", {"repo", "branch", "error"}},
	{"pull_request", "Pull request", {"stage"}},
	{"issue", "Issue", {"stage"}},
	{"eval_build", "Build", {"status", "digest"}},
	{"eval_run", "Evaluation", {"name", "status"}},
	{"analysis", "Analysis", {"text"}},
	{"decision", "Decision", {"outcome", "status", "decision"}},
};

/* A page under construction. */
struct page {
	struct buf out;
	yyjson_val *root, *nodes, *edges;
};

static yyjson_val *find_node(const struct page *page, const char *id)
{
	size_t index, count;
	yyjson_val *node;
	yyjson_arr_foreach (page->nodes, index, count, node) {
		const char *own = json_get_text(node, "id");
		if (id && own && strcmp(own, id) == 0)
			return node;
	}
	return NULL;
}

/* A text as a code span, with `before` in front. False: there is none. */
static bool add_text(struct page *page, const char *before, const char *text)
{
	if (!markdown_has_text(text))
		return false;
	buf_puts(&page->out, before);
	markdown_code(&page->out, text);
	return true;
}

/* The same of a text or a number. */
static bool add_value(struct page *page, const char *before, yyjson_val *value)
{
	return add_text(page, before,
	                yyjson_is_num(value) ? json_write(page->out.arena, value, NULL)
	                                     : yyjson_get_str(value));
}

static void add_day(struct page *page, yyjson_val *node)
{
	const char *at = json_get_text(node, "at");
	if (at)
		buf_printf(&page->out, "%.*s ", DATE_TEXT_LEN, at);
}

/* Its page, where it has one; a path is one of this service. */
static void add_link(struct page *page, yyjson_val *node)
{
	const char *url = json_get_text(node, "url"), *site = process_settings.public_url;
	if (url && url[0] != '/')
		add_text(page, ", ", url);
	else if (url && site[0])
		add_text(page, ", ", arena_printf(page->out.arena, "%s%s", site, url));
}

static void add_stop(struct page *page, const struct stop *stop, yyjson_val *node)
{
	yyjson_val *data = json_get(node, "data");
	const char *before = ": ";
	buf_puts(&page->out, "- ");
	add_day(page, node);
	buf_puts(&page->out, stop->name);
	for (size_t i = 0; i < ARRAY_LEN(stop->members) && stop->members[i]; i++)
		if (add_value(page, before, json_get(data, stop->members[i])))
			before = ", ";
	add_link(page, node);
	buf_puts(&page->out, "\n");
}

/* The papers that the experiment is about; others were only considered. */
static bool is_on_the_way(const struct page *page, yyjson_val *node)
{
	const char *root = json_get_text(page->root, "root"), *id = json_get_text(node, "id");
	size_t index, count;
	yyjson_val *edge;
	if (strcmp(json_get_text(node, "kind"), "paper") != 0)
		return true;
	yyjson_arr_foreach (page->edges, index, count, edge)
		if (strcmp(json_get_text(edge, "from"), root) == 0 &&
		    strcmp(json_get_text(edge, "to"), id) == 0)
			return true;
	return false;
}

/* Nodes are the newest first; a way begins with the oldest. */
static void add_way(struct page *page)
{
	markdown_heading(&page->out, "Way");
	for (size_t stop = 0; stop < ARRAY_LEN(STOPS); stop++)
		for (size_t i = yyjson_arr_size(page->nodes); i-- > 0;) {
			yyjson_val *node = yyjson_arr_get(page->nodes, i);
			if (strcmp(json_get_text(node, "kind"), STOPS[stop].kind) == 0 &&
			    is_on_the_way(page, node))
				add_stop(page, &STOPS[stop], node);
		}
}

static void add_passed_over(struct page *page)
{
	size_t index, count;
	yyjson_val *edge;
	bool is_first = true;
	yyjson_arr_foreach (page->edges, index, count, edge) {
		yyjson_val *data = json_get(edge, "data");
		const char *to = json_get_text(edge, "to");
		if (strcmp(json_get_text(edge, "kind"), "considered") != 0 ||
		    json_get_bool(data, "accepted", true))
			continue;
		if (is_first)
			markdown_heading(&page->out, "Passed over");
		is_first = false;
		yyjson_val *paper = json_get(find_node(page, to), "data");
		buf_puts(&page->out, "- ");
		add_day(page, edge);
		add_value(page, "", json_get(paper, "arxiv_id"));
		add_value(page, ", ", json_get(paper, "title"));
		add_value(page, ": ", json_get(data, "gate"));
		add_value(page, ", ", json_get(data, "reason"));
		buf_puts(&page->out, "\n");
	}
}

static void add_cost(struct page *page)
{
	yyjson_val *summary = json_get(page->root, "summary");
	markdown_heading(&page->out, "Cost");
	if (yyjson_is_num(json_get(summary, "cost_usd")))
		buf_printf(&page->out, "%.2f USD, known of %" PRId64 " of %" PRId64 " runs.\n",
		           json_get_float(summary, "cost_usd", 0),
		           json_get_int(summary, "runs_with_cost", 0),
		           json_get_int(summary, "runs", 0));
	else
		buf_puts(&page->out, "Unknown.\n");
}

/* The newest of a kind. */
static void add_newest(struct page *page, const char *heading, const char *kind,
                       const char *const *members)
{
	size_t index, count;
	yyjson_val *node;
	markdown_heading(&page->out, heading);
	yyjson_arr_foreach (page->nodes, index, count, node) {
		if (strcmp(json_get_text(node, "kind"), kind) != 0)
			continue;
		for (; *members; members++) {
			const char *text = json_get_text(json_get(node, "data"), *members);
			if (text)
				markdown_quoted(&page->out, outside_text(page->out.arena, text));
		}
		return;
	}
	buf_puts(&page->out, "None.\n");
}

static void add_head(struct page *page)
{
	yyjson_val *experiment = find_node(page, json_get_text(page->root, "root"));
	yyjson_val *sentences = json_at(page->root, "summary.sentences"), *sentence;
	size_t index, count;
	buf_puts(&page->out, "# Evidence");
	add_value(page, ": ", json_get(json_get(experiment, "data"), "name"));
	buf_puts(&page->out, "\n\n");
	yyjson_arr_foreach (sentences, index, count, sentence)
		buf_printf(&page->out, "%s%s", index ? " " : "", yyjson_get_str(sentence));
	buf_puts(&page->out, "\n");
}

/* What the page does not have, and by what it can be compared. */
static void add_seal(struct page *page)
{
	size_t index, count;
	yyjson_val *missing, *row;
	markdown_heading(&page->out, "Record");
	markdown_item(&page->out, "SHA-256 of the graph", json_get_text(page->root, "digest"),
	              true);
	markdown_item(&page->out, "Put together", json_get_text(page->root, "generated_at"), false);
	missing = json_get(page->root, "missing");
	yyjson_arr_foreach (missing, index, count, row)
		markdown_item(&page->out, "Not in it", json_get_text(row, "part"), false);
	if (json_get_bool(page->root, "truncated", false))
		buf_puts(&page->out, "- The oldest runs are left out.\n");
}

const char *evidence_page(struct request *rq, const char *json)
{
	static const char *const RESULT[] = {"text", NULL};
	static const char *const DECISION[] = {"outcome", "decision", NULL};
	yyjson_val *root = json_parse_own(rq->arena, json);
	struct page page = {
		.out = {.arena = rq->arena},
		.root = root,
		.nodes = json_get(root, "nodes"),
		.edges = json_get(root, "edges"),
	};
	add_head(&page);
	add_way(&page);
	add_cost(&page);
	add_passed_over(&page);
	add_newest(&page, "Result", "analysis", RESULT);
	add_newest(&page, "Decision", "decision", DECISION);
	add_seal(&page);
	return page.out.data;
}
