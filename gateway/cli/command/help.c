#include "command/help.h"

#include "program/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_COLUMNS 28 /* of a name in a list; what is longer gets a line of its own */
#define INDENT       2

/* A line of a list: a name, and what is said of it, wrapped beside it. */
static void print_row(struct cli *cli, const char *name, const char *text)
{
	const char *gap = text_width(name) < NAME_COLUMNS - INDENT - 1 ? "" : "\n";
	int padding = *gap ? NAME_COLUMNS : NAME_COLUMNS - INDENT - (int)text_width(name);
	printf("%*s%s%s%*s%s\n", INDENT, "",
	       screen_style(&cli->screen, cli->arena, STYLE_BOLD, name), gap, padding, "",
	       text_wrap(cli->arena, text, NAME_COLUMNS, cli->screen.columns));
}

static void print_heading(struct cli *cli, const char *text)
{
	printf("\n%s\n", screen_style(&cli->screen, cli->arena, STYLE_DIM, text));
}

static void print_parameters(struct cli *cli, const char *heading, const struct parameter *rows)
{
	for (const struct parameter *row = rows; row && row->name; row++) {
		if (row == rows)
			print_heading(cli, heading);
		print_row(cli, command_option_text(cli, row), row->help);
	}
}

void help_overview(struct cli *cli)
{
	printf("expops, the command line of the experiment service\n\nusage: expops COMMAND "
	       "[ARGUMENT...] [OPTION...]\n");
	for (const struct command *command = COMMANDS; command->name; command++) {
		if (!command->summary)
			continue;
		if (command->group)
			print_heading(cli, command->group);
		print_row(cli, command_usage(cli, command) + strlen("expops "), command->summary);
	}
	print_parameters(cli, "Options of every command", COMMON_OPTIONS);
	printf("\nexpops COMMAND --help describes one, man expops all.\n");
}

static void print_wrapped(struct cli *cli, const char *text)
{
	printf("\n%s\n", text_wrap(cli->arena, text, 0, cli->screen.columns));
}

static void print_command(struct cli *cli, const struct command *command)
{
	const struct operation *operation =
		command->operation ? operation_find(command->operation) : NULL;
	printf("usage: %s\n\n%s\n", command_usage(cli, command), command->summary);
	if (command->help)
		print_wrapped(cli, command->help);
	print_parameters(cli, "Arguments", command->parameters);
	print_parameters(cli, "Options of every command", COMMON_OPTIONS);
	if (operation)
		printf("\nCalls %s, scope %s.\n", operation->id, operation->scope);
}

static const char *field_text(struct cli *cli, const struct operation_field *field)
{
	static const char *const KIND_NAMES[] = {"text", "integer",     "number",      "boolean",
	                                         "list", "JSON object", "JSON or text"};
	struct buf out = {.arena = cli->arena};
	buf_puts(&out, KIND_NAMES[field->kind]);
	if (*field->values)
		buf_printf(&out, ", one of %s", field->values);
	buf_puts(&out, field->is_required ? ", required" : "");
	if (*field->description)
		buf_printf(&out, ". %s", field->description);
	return out.data;
}

/* A description has paragraphs of lines, which are joined, and lists, which are not. */
static void print_description(struct cli *cli, const char *text)
{
	struct buf line = {.arena = cli->arena};
	buf_puts(&line, "");
	for (; *text; text++) {
		bool ends = *text == '\n' && (text[1] == '\n' || text[1] == '-' || text[1] == ' ');
		if (!ends)
			buf_add(&line, *text == '\n' ? " " : text, 1);
		if (ends || text[1] == '\0') {
			printf("%s\n", text_wrap(cli->arena, line.data, 0, cli->screen.columns));
			line.length = 0;
			buf_puts(&line, "");
		}
	}
}

void help_operation(struct cli *cli, const struct operation *operation)
{
	printf("usage: expops api %s [FIELD=VALUE...]%s\n\n%s\n\n", operation->id,
	       operation->has_body ? " [-d FILE]" : "", operation->summary);
	print_description(cli, operation->description);
	for (const struct operation_field *field = operation->fields; field->name; field++) {
		if (field == operation->fields)
			print_heading(cli, "Fields");
		print_row(cli, field->name, field_text(cli, field));
	}
	printf("\n%s %s%s%s\n", operation->method, operation->path,
	       *operation->scope ? ", scope " : "", operation->scope);
}

void help_command(struct cli *cli, const struct arguments *arguments)
{
	const char *id = strcmp(arguments->command->name, "api") == 0
	                         ? argument(arguments, "OPERATION")
	                         : NULL;
	const struct operation *operation = id ? operation_find(id) : NULL;
	if (id && !operation)
		cli_fail(EXIT_NOT_FOUND, "there is no operation %s; expops api lists them", id);
	if (operation)
		help_operation(cli, operation);
	else
		print_command(cli, arguments->command);
}

void help_run(struct cli *cli, const struct arguments *arguments)
{
	size_t words;
	if (arguments->rest_count == 0) {
		help_overview(cli);
		return;
	}
	const struct command *command =
		command_find(arguments->rest, arguments->rest_count, &words);
	if (!command)
		cli_fail(EXIT_NOT_FOUND, "there is no command %s; expops help lists them",
		         argument(arguments, "COMMAND"));
	print_command(cli, command);
}

void help_version(void)
{
	printf("expops %s\n", EXPOPS_VERSION);
	cli_exit(EXIT_OK);
}
