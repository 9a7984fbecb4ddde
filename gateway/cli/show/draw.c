#include "show/draw.h"

#include "base/terminal.h"
#include "json/json.h"
#include "program/text.h"
#include "show/table.h"

#include <stdio.h>
#include <string.h>

#define PAPER_INDENT 5

static const char *style(struct cli *cli, enum style style, const char *text)
{
	return screen_style(&cli->screen, cli->arena, style, text);
}

static const char *member(struct cli *cli, yyjson_val *object, const char *name)
{
	return cell_text(cli, json_get(object, name), CELL_TEXT);
}

static void print_heading(struct cli *cli, const char *text)
{
	printf("\n%s\n\n", style(cli, STYLE_BOLD, text));
}

/* A text below a heading or beside a number, wrapped and styled line by line. */
static void print_paragraph(struct cli *cli, size_t indent, enum style kind, const char *text)
{
	const char *wrapped =
		text_wrap(cli->arena, text, 0,
	                  cli->screen.columns > indent ? cli->screen.columns - indent : 0);
	while (*wrapped) {
		size_t length = strcspn(wrapped, "\n");
		printf("%*s%s\n", (int)indent, "",
		       style(cli, kind, arena_strndup(cli->arena, wrapped, length)));
		wrapped += length + (wrapped[length] == '\n');
	}
}

/* ---- recommendations ---- */

static void print_recommendation(struct cli *cli, yyjson_val *row, size_t number)
{
	const char *title =
		text_wrap(cli->arena, member(cli, row, "title"), PAPER_INDENT, cli->screen.columns);
	printf("%3zu. %s\n", number, style(cli, STYLE_BOLD, title));
	printf("%*s%s  %s  %s\n", PAPER_INDENT, "",
	       cell_text(cli, json_get(row, "relevance_score"), CELL_SCORE),
	       member(cli, row, "resource_id"), style(cli, STYLE_DIM, member(cli, row, "url")));
	print_paragraph(cli, PAPER_INDENT, STYLE_DIM, member(cli, row, "reasoning"));
}

/* Returns the number of the last one. */
static size_t print_recommendations(struct cli *cli, yyjson_val *list, size_t number)
{
	size_t index, count;
	yyjson_val *row;
	yyjson_arr_foreach (list, index, count, row)
		print_recommendation(cli, row, ++number);
	return number;
}

void draw_recommendations(struct cli *cli, yyjson_val *answer)
{
	if (print_recommendations(cli, answer, 0) == 0)
		printf("nothing is recommended in this time; expops refresh -w computes it now, "
		       "--all shows earlier papers\n");
}

void draw_digest(struct cli *cli, yyjson_val *answer)
{
	size_t index, count, number = 0;
	yyjson_val *interest;
	yyjson_arr_foreach (json_get(answer, "interests"), index, count, interest) {
		print_heading(cli, member(cli, interest, "name"));
		print_paragraph(cli, PAPER_INDENT, STYLE_DIM, member(cli, interest, "message"));
		number = print_recommendations(cli, json_get(interest, "recommendations"), number);
	}
	if (yyjson_arr_size(json_get(answer, "interests")) == 0)
		printf("no active interests; expops interest add NAME makes one\n");
	else if (number == 0)
		printf("\nnothing is recommended in this time; expops refresh -w computes it now, "
		       "--week shows more\n");
}

/* ---- an explanation ---- */

static const struct column PARTS[] = {
	{"SIGNAL", "/name"},
	{"VALUE", "/value", CELL_SCORE},
	{"WEIGHT", "/weight", CELL_SCORE},
	{"CONTRIBUTION", "/contribution", CELL_SCORE},
	{0},
};

static void print_parts(struct cli *cli, yyjson_val *answer)
{
	static const char *const NAMES[] = {"retrieval", "preference", "recency", "container"};
	const char *cells[ARRAY_LEN(NAMES) * ARRAY_LEN(PARTS)];
	size_t count = 0;
	for (size_t i = 0; i < ARRAY_LEN(NAMES); i++) {
		yyjson_val *part = json_get(answer, NAMES[i]);
		cells[count++] = NAMES[i];
		for (const struct column *column = PARTS + 1; column->title; column++)
			cells[count++] =
				cell_text(cli, yyjson_ptr_get(part, column->path), column->cell);
	}
	table_print(cli, PARTS, ARRAY_LEN(NAMES), cells);
}

/* Each on a line: the matched words, and the papers whose rating counted. */
static void print_reasons(struct cli *cli, yyjson_val *answer)
{
	size_t index, count;
	yyjson_val *row;
	yyjson_arr_foreach (json_get(answer, "matched"), index, count, row)
		printf("%s\"%s\" in the %s\n", index > 0 ? "" : "\n", member(cli, row, "text"),
		       member(cli, row, "field"));
	yyjson_arr_foreach (yyjson_ptr_get(answer, "/preference/examples"), index, count, row)
		printf("%s%s: %s (%s)\n", index > 0 ? "" : "\n", member(cli, row, "signal"),
		       member(cli, row, "title"), member(cli, row, "resource_id"));
}

void draw_explanation(struct cli *cli, yyjson_val *answer)
{
	printf("%s, rank %s, relevance %s\n\n", member(cli, answer, "resource_id"),
	       member(cli, answer, "rank"),
	       cell_text(cli, json_get(answer, "relevance_score"), CELL_SCORE));
	print_parts(cli, answer);
	print_reasons(cli, answer);
}

/* ---- the report ---- */

static const struct column AGENTS[] = {
	{"REPOSITORY", "/repo", CELL_TEXT, COLUMN_WIDE},
	{"STATE", "/state", CELL_STATE},
	{"RUNS", "/runs", CELL_COUNT},
	{"LAST OUTCOME", "/last_outcome", CELL_STATE},
	{"LAST RUN", "/last_run_at", CELL_AGE},
	{0},
};

static const struct column FIGURES[] = {
	{"Runs", "/runs"},
	{"Pull requests opened", "/pull_requests_opened"},
	{"Merged", "/pull_requests_merged"},
	{"Issues", "/issues_opened"},
	{"Cost", "/cost_usd", CELL_COST},
	{"Cost of a merged one", "/cost_per_merged_pull_request", CELL_COST},
	{"Hours to merge, median", "/median_hours_to_merge"},
	{"Failure rate", "/failure_rate", CELL_SCORE},
	{0},
};

static void print_findings(struct cli *cli, yyjson_val *findings)
{
	size_t index, count;
	yyjson_val *row;
	yyjson_arr_foreach (findings, index, count, row) {
		const char *severity = member(cli, row, "severity");
		if (index == 0)
			print_heading(cli, "What stands out");
		printf("%s  %s\n", style(cli, screen_style_of(severity), severity),
		       text_wrap(cli->arena, member(cli, row, "text"), text_width(severity) + 2,
		                 cli->screen.columns));
	}
}

void draw_report(struct cli *cli, yyjson_val *answer)
{
	yyjson_val *agents = json_get(answer, "agents"), *period = json_get(answer, "period");
	print_paragraph(cli, 0, STYLE_BOLD, member(cli, answer, "headline"));
	printf("%s to %s\n\n", member(cli, period, "since"), member(cli, period, "until"));
	view_print_record(cli, FIGURES, json_get(answer, "kpis"));
	if (yyjson_arr_size(agents) > 0) {
		print_heading(cli, "Agents");
		view_print_table(cli, AGENTS, agents);
	}
	print_findings(cli, json_get(answer, "findings"));
}

/* ---- the results of an experiment ---- */

static const struct column EFFECTS[] = {
	{"METRIC", "/metric", CELL_TEXT, COLUMN_WIDE},
	{"ARM", "/arm"},
	{"EFFECT", "/effect", CELL_COUNT},
	{"LOW", "/low", CELL_COUNT},
	{"HIGH", "/high", CELL_COUNT},
	{"P", "/p_adjusted", CELL_COUNT, COLUMN_EXTRA},
	{0},
};

/* A number with as many digits as people read. */
static void add_figure(yyjson_mut_doc *doc, yyjson_mut_val *row, const char *name,
                       yyjson_val *value)
{
	char text[32];
	snprintf(text, sizeof(text), "%.4g", yyjson_get_num(value));
	if (yyjson_is_num(value))
		yyjson_mut_obj_add_strcpy(doc, row, name, text);
}

/* The comparisons of all metrics as one list. */
static yyjson_val *effects_of(struct cli *cli, yyjson_val *answer)
{
	static const char *const FIGURES_OF_PAIR[] = {"effect", "low", "high", "p_adjusted"};
	yyjson_mut_doc *doc = json_doc_new(cli->arena);
	yyjson_mut_val *rows = yyjson_mut_arr(doc);
	size_t index, count, place, pairs;
	yyjson_val *metric, *pair;
	yyjson_arr_foreach (json_get(answer, "metrics"), index, count, metric)
		yyjson_arr_foreach (json_get(metric, "comparisons"), place, pairs, pair) {
			yyjson_mut_val *row = yyjson_mut_arr_add_obj(doc, rows);
			json_add_member(doc, row, "metric", metric, "key");
			json_add_member(doc, row, "arm", pair, "arm");
			for (size_t i = 0; i < ARRAY_LEN(FIGURES_OF_PAIR); i++)
				add_figure(doc, row, FIGURES_OF_PAIR[i],
				           json_get(pair, FIGURES_OF_PAIR[i]));
		}
	return json_parse_own(cli->arena, json_write_mut(cli->arena, rows, NULL));
}

void draw_results(struct cli *cli, yyjson_val *answer)
{
	yyjson_val *effects = effects_of(cli, answer), *warning;
	size_t index, count;
	print_paragraph(cli, 0, STYLE_BOLD, member(cli, answer, "text"));
	printf("%s; the figures propose: %s\n", member(cli, answer, "delta_confidence"),
	       member(cli, answer, "advice"));
	if (yyjson_arr_size(effects) > 0) {
		putchar('\n');
		view_print_table(cli, EFFECTS, effects);
	}
	yyjson_arr_foreach (json_get(answer, "warnings"), index, count, warning) {
		if (index == 0)
			print_heading(cli, "Warnings");
		print_paragraph(cli, 0, STYLE_DIM, member(cli, warning, "text"));
	}
}

/* ---- the brief for an agent ---- */

void draw_context(struct cli *cli attr_unused, yyjson_val *answer)
{
	const char *text = json_get_text(answer, "formatted");
	if (!text)
		cli_fail(EXIT_FAILED, "the answer has no brief");
	terminal_print(stdout, text, strlen(text));
	putchar('\n');
}
