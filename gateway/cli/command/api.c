#include "command/api.h"

#include "base/terminal.h"
#include "json/json.h"
#include "program/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct column OPERATION_COLUMNS[] = {
	{"OPERATION", "/id"},
	{"SUMMARY", "/summary", CELL_TEXT, COLUMN_WIDE},
	{"SCOPE", "/scope", CELL_TEXT, COLUMN_EXTRA},
	{"PATH", "/path", CELL_TEXT, COLUMN_EXTRA},
	{0},
};
static const struct view OPERATIONS_VIEW = {"", OPERATION_COLUMNS, ""};

static void list_operations(struct cli *cli)
{
	yyjson_mut_doc *doc = json_doc_new(cli->arena);
	yyjson_mut_val *list = yyjson_mut_arr(doc);
	for (const struct operation *operation = operations(); operation->id; operation++) {
		yyjson_mut_val *row = yyjson_mut_arr_add_obj(doc, list);
		json_add_text(doc, row, "id", operation->id);
		json_add_text(doc, row, "method", operation->method);
		json_add_text(doc, row, "path", operation->path);
		json_add_text(doc, row, "scope", operation->scope);
		json_add_text(doc, row, "summary", operation->summary);
	}
	const struct answer answer = {
		.total = -1,
		.json = json_parse_own(cli->arena, json_write_mut(cli->arena, list, NULL))};
	view_show(cli, &OPERATIONS_VIEW, &answer);
}

static attr_noreturn void fail_field(const struct operation *operation, const char *name)
{
	cli_fail(EXIT_USAGE, "%s has no field %s; expops api %s --help lists them", operation->id,
	         name, operation->id);
}

/* The value that a word gives: of FIELD:=JSON. */
static yyjson_val *json_of(struct cli *cli, const char *name, const char *text)
{
	yyjson_val *value;
	const char *why;
	if (json_parse(cli->arena, text, strlen(text), &value, &why))
		cli_fail(EXIT_USAGE, "%s %s", name, why);
	return value;
}

/* FIELD=VALUE, FIELD=@FILE or FIELD:=JSON. */
static void set_word(struct query *query, const char *word)
{
	struct cli *cli = query->cli;
	const char *equals = strchr(word, '=');
	if (!equals || equals == word)
		cli_fail(EXIT_USAGE, "%s is not FIELD=VALUE", word);
	bool is_json = equals[-1] == ':';
	const char *name = arena_strndup(cli->arena, word, (size_t)(equals - word) - is_json);
	const struct operation_field *field = operation_field(query->operation, name);
	size_t length;
	if (!field)
		fail_field(query->operation, name);
	if (is_json && field->place == FIELD_BODY)
		query_set_json(query, name, json_of(cli, name, equals + 1));
	else
		query_set(query, name,
		          equals[1] == '@' ? file_read_text(cli, equals + 2, &length) : equals + 1);
}

/* Text that is not JSON, such as a page or a feed. A terminal obeys nothing in it. */
static void print_content(struct cli *cli, const struct answer *answer)
{
	if (cli->screen.is_terminal)
		terminal_print(stdout, answer->content, answer->length);
	else
		fwrite(answer->content, 1, answer->length, stdout);
}

static const struct view LINES_VIEW = {.items = ""};
static const struct view RECORD_VIEW = {0};

/* A list that does not come to its end, on standard error. */
static void tell_rest(const struct query *query, const struct answer *answer)
{
	const char *text = query_value(query, "offset");
	int64_t count = (int64_t)yyjson_arr_size(answer->json),
		offset = text ? strtoll(text, NULL, 10) : 0;
	fflush(stdout);
	if (yyjson_is_arr(answer->json) && answer->total - offset > count)
		fprintf(stderr,
		        "expops: %" PRId64 " of %" PRId64
		        "; the fields limit and offset show others\n",
		        count, answer->total);
}

static void show(struct cli *cli, const struct answer *answer)
{
	if (!answer->json)
		print_content(cli, answer);
	else if (cli->form == FORM_LINES)
		view_show(cli, yyjson_is_arr(answer->json) ? &LINES_VIEW : &RECORD_VIEW, answer);
	else
		view_print_json(answer->json);
}

void api_run(struct cli *cli, const struct arguments *arguments)
{
	const char *id = argument(arguments, "OPERATION"), *file = argument(arguments, "--data");
	size_t length;
	if (!id) {
		list_operations(cli);
		return;
	}
	if (!operation_find(id))
		cli_fail(EXIT_NOT_FOUND, "there is no operation %s; expops api lists them", id);
	struct query *query = query_new(cli, id);
	for (size_t i = 0; i < arguments->rest_count; i++)
		set_word(query, arguments->rest[i]);
	if (file && query->body)
		cli_fail(EXIT_USAGE, "the body is either of fields or of --data");
	if (file) {
		const char *content = file_read_text(cli, file, &length);
		query_set_content(query, content, length);
	}
	struct answer *answer = call(query), shown = *answer;
	shown.total = -1; /* tell_rest() knows where the list begins */
	show(cli, &shown);
	tell_rest(query, answer);
}
