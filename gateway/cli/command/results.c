#include "command/results.h"

#include "json/json.h"
#include "program/csv.h"
#include "program/file.h"
#include "show/views.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a column of the file becomes. */
enum part { PART_NONE, PART_LABEL, PART_METRIC };

/* The columns of a file, as its first line names them. */
struct columns {
	const char *names[CSV_CELLS_MAX];
	enum part parts[CSV_CELLS_MAX];
	size_t count;
};

static const char *const LABELS[] = {"arm", "example", "sample", "group"};

static bool is_label(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(LABELS); i++)
		if (strcmp(name, LABELS[i]) == 0)
			return true;
	return false;
}

/* Whether the experiment's plan has a metric of this key. */
static bool is_planned(yyjson_val *metrics, const char *name)
{
	size_t index, count;
	yyjson_val *metric;
	yyjson_arr_foreach (metrics, index, count, metric) {
		const char *key = json_get_text(metric, "key");
		if (key && strcmp(key, name) == 0)
			return true;
	}
	return false;
}

static bool has_column(const struct columns *columns, const char *name)
{
	for (size_t i = 0; i < columns->count; i++)
		if (strcmp(columns->names[i], name) == 0)
			return true;
	return false;
}

static void add_column(struct csv *csv, struct columns *columns, yyjson_val *metrics,
                       const char *name)
{
	enum part part = is_label(name)              ? PART_LABEL
	                 : is_planned(metrics, name) ? PART_METRIC
	                                             : PART_NONE;
	if (part != PART_NONE && has_column(columns, name))
		cli_fail(EXIT_USAGE, "%s has the column %s twice", csv->name,
		         cli_shown(csv->cli, name));
	if (part == PART_NONE)
		fprintf(stderr, "expops: %s is no metric of the plan and is left out\n",
		        cli_shown(csv->cli, name));
	columns->names[columns->count] = name;
	columns->parts[columns->count++] = part;
}

static struct columns read_columns(struct csv *csv, yyjson_val *metrics)
{
	struct columns columns = {0};
	size_t count = csv_line(csv), planned = 0;
	for (size_t i = 0; i < count; i++) {
		add_column(csv, &columns, metrics, csv->cells[i]);
		planned += columns.parts[i] == PART_METRIC;
	}
	if (!has_column(&columns, "arm"))
		cli_fail(EXIT_USAGE, "%s has no column arm", csv->name);
	if (planned == 0)
		cli_fail(EXIT_USAGE, "%s has no column of a metric of the experiment's plan",
		         csv->name);
	return columns;
}

static double number(struct csv *csv, const char *column, const char *cell)
{
	char *end;
	double value = strtod(cell, &end);
	if (end == cell || *end || !isfinite(value))
		cli_fail(EXIT_USAGE, "%s, line %zu: %s is no number: %s", csv->name, csv->line,
		         cli_shown(csv->cli, column), cli_shown(csv->cli, cell));
	return value;
}

static void add_row(struct csv *csv, const struct columns *columns, yyjson_mut_doc *doc,
                    yyjson_mut_val *rows)
{
	yyjson_mut_val *row = yyjson_mut_arr_add_obj(doc, rows);
	yyjson_mut_val *metrics = yyjson_mut_obj_add_obj(doc, row, "metrics");
	for (size_t i = 0; i < columns->count; i++) {
		const char *name = columns->names[i], *cell = csv->cells[i];
		if (!*cell)
			continue;
		if (columns->parts[i] == PART_LABEL)
			yyjson_mut_obj_add_str(doc, row, name, cell);
		else if (columns->parts[i] == PART_METRIC)
			yyjson_mut_obj_add_real(doc, metrics, name, number(csv, name, cell));
	}
}

/* The body of the request. */
static const char *read_rows(struct csv *csv, yyjson_val *metrics, bool is_trial,
                             size_t *ret_length)
{
	struct columns columns = read_columns(csv, metrics);
	yyjson_mut_doc *doc = json_doc_new(csv->cli->arena);
	yyjson_mut_val *body = yyjson_mut_obj(doc);
	yyjson_mut_val *rows = yyjson_mut_obj_add_arr(doc, body, "rows");
	for (size_t count; (count = csv_line(csv));) {
		if (count != columns.count)
			cli_fail(EXIT_USAGE, "%s, line %zu: there are %zu cells, and %zu columns",
			         csv->name, csv->line, count, columns.count);
		add_row(csv, &columns, doc, rows);
	}
	yyjson_mut_obj_add_bool(doc, body, "apply", !is_trial);
	return json_write_mut(csv->cli->arena, body, ret_length);
}

void results_add_run(struct cli *cli, const struct arguments *arguments)
{
	const char *path = argument(arguments, "FILE");
	struct query *query = command_query(cli, arguments),
		     *get = query_new(cli, "experiment_get");
	size_t length;
	const char *text = file_read_text(cli, path, &length);
	const char *id = reference_id(cli, REFERENCE_EXPERIMENT, argument(arguments, "EXPERIMENT"));
	query_set(get, "experiment_id", id);
	query_set(query, "experiment_id", id);
	yyjson_val *plan = json_get(call(get)->json, "ab_test_config");
	struct csv csv = csv_open(cli, path, text, length);
	const char *body = read_rows(&csv, json_get(plan, "metrics"),
	                             argument(arguments, "--trial") != NULL, &length);
	query_set_content(query, body, length);
	view_show(cli, &VIEW_RESULTS, call(query));
}
