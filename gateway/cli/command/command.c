#include "command/command.h"

#include "call/pages.h"
#include "command/help.h"

#include <stdlib.h>
#include <string.h>

static bool is_option(const struct parameter *parameter)
{
	return parameter->name[0] == '-';
}

static size_t words_of(const char *name)
{
	return strchr(name, ' ') ? 2 : 1;
}

static bool begins_with(const struct command *command, const char *const *words, size_t count)
{
	size_t first = strcspn(command->name, " ");
	if (words_of(command->name) > count || strncmp(words[0], command->name, first) != 0 ||
	    words[0][first])
		return false;
	return words_of(command->name) == 1 || strcmp(words[1], command->name + first + 1) == 0;
}

const struct command *command_find(const char *const *words, size_t count, size_t *ret_words)
{
	const struct command *found = NULL;
	for (const struct command *command = COMMANDS; command->name; command++)
		if (begins_with(command, words, count) &&
		    (!found || words_of(command->name) > *ret_words)) {
			found = command;
			*ret_words = words_of(command->name);
		}
	return found;
}

/* ---- reading the arguments ---- */

/* The program's arguments, in two passes: the options that all commands have, which may stand
 * anywhere, and with the command known all the others. */
struct parse {
	struct cli *cli;
	struct arguments *arguments;
	bool wants_help;
	const char **words; /* neither options nor their values */
	size_t word_count;
};

static const struct parameter *option_in(const struct parameter *rows, const char *name,
                                         size_t length, char letter)
{
	for (const struct parameter *row = rows; row && row->name; row++)
		if (is_option(row) &&
		    ((letter && row->letter == letter) || (name && strlen(row->name) == length &&
		                                           strncmp(row->name, name, length) == 0)))
			return row;
	return NULL;
}

static const struct parameter *option_of(const struct command *command, const char *name,
                                         size_t length, char letter)
{
	const struct parameter *row =
		command ? option_in(command->parameters, name, length, letter) : NULL;
	return row ? row : option_in(COMMON_OPTIONS, name, length, letter);
}

const struct parameter *command_option(const struct command *command, const char *word)
{
	if (word[0] != '-' || !word[1])
		return NULL;
	return word[1] == '-' ? option_of(command, word, strcspn(word, "="), 0)
	                      : option_of(command, NULL, 0, word[1]);
}

static void set_form(struct cli *cli, const char *text)
{
	static const char *const FORMS[] = {
		[FORM_TEXT] = "text", [FORM_JSON] = "json", [FORM_LINES] = "jsonl"};
	for (size_t i = 0; i < ARRAY_LEN(FORMS); i++)
		if (strcmp(FORMS[i], text) == 0) {
			cli->form = (enum form)i;
			return;
		}
	cli_fail(EXIT_USAGE, "--output: %s is none of text, json and jsonl", text);
}

static bool is_list(const struct command *command, const struct parameter *row)
{
	const struct operation_field *field =
		row->field ? operation_field(operation_find(command->operation), row->field) : NULL;
	return field && field->kind == KIND_ARRAY;
}

static void set_own_option(struct parse *parse, const struct parameter *row, const char *value)
{
	struct arguments *arguments = parse->arguments;
	const char **first = &arguments->values[row - arguments->command->parameters];
	if (*first && is_list(arguments->command, row))
		arguments->repeated[arguments->repeated_count++] = (struct repeated){row, value};
	else
		*first = value;
}

static void set_option(struct parse *parse, const struct parameter *row, const char *value)
{
	const struct command *command = parse->arguments->command;
	if (command && command->parameters &&
	    option_in(command->parameters, row->name, strlen(row->name), 0) == row)
		set_own_option(parse, row, value);
	else if (strcmp(row->name, "--output") == 0)
		set_form(parse->cli, value);
	else if (strcmp(row->name, "--profile") == 0)
		parse->cli->profile_name = value;
	else if (strcmp(row->name, "--version") == 0)
		help_version();
	else
		parse->wants_help = true;
}

/* One argument that begins with a hyphen. Returns how many arguments it takes. */
static size_t read_option(struct parse *parse, char *const *argv, size_t left)
{
	const char *text = argv[0], *equals = strchr(text, '=');
	bool is_long = text[1] == '-';
	const struct parameter *row = command_option(parse->arguments->command, text);
	if (!row)
		cli_fail(EXIT_USAGE, "there is no option %s; see expops %s --help", text,
		         parse->arguments->command ? parse->arguments->command->name : "help");
	const char *attached = is_long ? (equals ? equals + 1 : NULL) : (text[2] ? text + 2 : NULL);
	if (!row->value && attached)
		cli_fail(EXIT_USAGE, "%s takes no value", row->name);
	if (row->value && !attached && left < 2)
		cli_fail(EXIT_USAGE, "%s needs a value: %s", row->name, row->value);
	set_option(parse, row, !row->value ? "" : attached ? attached : argv[1]);
	return row->value && !attached ? 2 : 1;
}

/* The arguments that are neither options nor their values. `-` is one: a file. */
static void read_words(struct parse *parse, size_t argc, char *const *argv)
{
	bool has_ended = false; /* by `--` */
	parse->words = arena_array(parse->cli->arena, argc + 1, sizeof(*parse->words));
	parse->word_count = 0;
	parse->arguments->repeated =
		arena_array(parse->cli->arena, argc + 1, sizeof(struct repeated));
	for (size_t at = 0; at < argc;) {
		if (!has_ended && strcmp(argv[at], "--") == 0) {
			has_ended = true;
			at++;
		} else if (!has_ended && argv[at][0] == '-' && argv[at][1]) {
			at += read_option(parse, argv + at, argc - at);
		} else {
			parse->words[parse->word_count++] = argv[at++];
		}
	}
}

/* Find the command: its words come first, but for options that all commands have. */
static const struct command *find_first(struct parse *parse, size_t argc, char *const *argv,
                                        size_t *ret_words)
{
	size_t at = 0;
	const char *words[2];
	size_t count = 0;
	while (at < argc && count < 2) {
		const char *text = argv[at];
		if (text[0] == '-' && text[1] && (count > 0 || strcmp(text, "--") == 0))
			break;
		if (text[0] == '-' && text[1])
			at += read_option(parse, argv + at, argc - at);
		else
			words[count++] = argv[at++];
	}
	if (count == 0)
		return NULL;
	const struct command *command = command_find(words, count, ret_words);
	if (!command)
		cli_fail(EXIT_USAGE, "there is no command %s; expops help lists them", words[0]);
	return command;
}

static const char *join(struct cli *cli, const char *const *words, size_t count)
{
	struct buf out = {.arena = cli->arena};
	for (size_t i = 0; i < count; i++)
		buf_printf(&out, "%s%s", i > 0 ? " " : "", words[i]);
	return out.data;
}

/* Give the words behind the command to its arguments. */
static void set_words(struct parse *parse, const char *const *words, size_t count)
{
	struct arguments *arguments = parse->arguments;
	const struct parameter *rows = arguments->command->parameters, *row;
	size_t at = 0;
	for (row = rows; row && row->name; row++) {
		const char **value = &arguments->values[row - rows];
		if (is_option(row) || at >= count)
			continue;
		if (row->flags & PARAMETER_REST) {
			arguments->rest = words + at;
			arguments->rest_count = count - at;
			*value = join(parse->cli, words + at, count - at);
			at = count;
		} else {
			*value = words[at++];
		}
	}
	if (at < count)
		cli_fail(EXIT_USAGE, "%s is one argument too many: %s", words[at],
		         command_usage(parse->cli, arguments->command));
}

/* What is not a path becomes a text of JSON. */
static void check_texts(struct cli *cli, const struct arguments *arguments)
{
	const struct parameter *rows = arguments->command->parameters;
	for (const struct parameter *row = rows; row && row->name; row++) {
		const char *value = arguments->values[row - rows];
		if (value && !(row->flags & PARAMETER_FILE))
			cli_check_text(cli, row->name, value, strlen(value));
	}
	for (size_t i = 0; i < arguments->repeated_count; i++) {
		const struct repeated *again = &arguments->repeated[i];
		cli_check_text(cli, again->row->name, again->value, strlen(again->value));
	}
}

static void require_arguments(struct cli *cli, const struct arguments *arguments)
{
	const struct parameter *rows = arguments->command->parameters;
	for (const struct parameter *row = rows; row && row->name; row++)
		if (row->flags & PARAMETER_REQUIRED && !arguments->values[row - rows])
			cli_fail(EXIT_USAGE, "%s is missing: %s", row->name,
			         command_usage(cli, arguments->command));
}

const struct arguments *command_parse(struct cli *cli, int argc, char **argv)
{
	struct parse parse = {.cli = cli, .arguments = arena_new_of(cli->arena, struct arguments)};
	size_t words = 0, count = argc > 1 ? (size_t)argc - 1 : 0;
	parse.arguments->command = find_first(&parse, count, argv + 1, &words);
	if (!parse.arguments->command) {
		help_overview(cli);
		cli_exit(parse.wants_help ? EXIT_OK : EXIT_USAGE);
	}
	read_words(&parse, count, argv + 1);
	set_words(&parse, parse.words + words, parse.word_count - words);
	if (parse.wants_help) {
		help_command(cli, parse.arguments);
		cli_exit(EXIT_OK);
	}
	require_arguments(cli, parse.arguments);
	check_texts(cli, parse.arguments);
	return parse.arguments;
}

/* ---- running ---- */

const char *argument(const struct arguments *arguments, const char *name)
{
	const struct parameter *rows = arguments->command->parameters;
	for (const struct parameter *row = rows; row->name; row++)
		if (strcmp(row->name, name) == 0)
			return arguments->values[row - rows];
	require(!"the command has no such parameter");
	return NULL;
}

static const char *value_of(struct cli *cli, const struct parameter *row, const char *value)
{
	if (!value || row->kind == REFERENCE_NONE)
		return value && row->constant ? row->constant : value;
	return reference_id(cli, row->kind, value);
}

struct query *command_query(struct cli *cli, const struct arguments *arguments)
{
	return command_query_for(cli, arguments, arguments->command->operation);
}

struct query *command_query_for(struct cli *cli, const struct arguments *arguments,
                                const char *operation)
{
	const struct command *command = arguments->command;
	struct query *query = query_new(cli, operation);
	for (const struct parameter *row = command->parameters; row && row->name; row++)
		if (row->field)
			query_set(query, row->field,
			          value_of(cli, row, arguments->values[row - command->parameters]));
	for (size_t i = 0; i < arguments->repeated_count; i++)
		query_set(query, arguments->repeated[i].row->field,
		          value_of(cli, arguments->repeated[i].row, arguments->repeated[i].value));
	return query;
}

/* The parameter with a flag; NULL: the command has none. */
static const struct parameter *flagged(const struct arguments *arguments, unsigned flag,
                                       const char **ret_value)
{
	const struct parameter *rows = arguments->command->parameters;
	for (const struct parameter *row = rows; row && row->name; row++)
		if (row->flags & flag) {
			*ret_value = arguments->values[row - rows];
			return row;
		}
	*ret_value = NULL;
	return NULL;
}

/* The answer of the command's operation; of a list as many pages as it takes. */
static struct answer *call_command(struct cli *cli, const struct arguments *arguments)
{
	const char *number, *all;
	const struct parameter *limit = flagged(arguments, PARAMETER_LIMIT, &number);
	flagged(arguments, PARAMETER_ALL, &all);
	struct query *query = command_query(cli, arguments);
	if (!limit)
		return call(query);
	const struct paging paging = {limit->field, arguments->command->view->items};
	if (all && number)
		cli_fail(EXIT_USAGE, "either %s or --all", limit->name);
	return all ? pages_call(query, &paging, LIST_ITEMS_MAX)
	           : pages_call_text(query, &paging, number);
}

void command_run(struct cli *cli, const struct arguments *arguments)
{
	const struct command *command = arguments->command;
	if (command->run)
		command->run(cli, arguments);
	else
		view_show(cli, command->view, call_command(cli, arguments));
}

static void add_parameter(struct buf *out, const struct parameter *row)
{
	bool is_required = row->flags & PARAMETER_REQUIRED;
	const char *more = row->flags & PARAMETER_REST ? "..." : "";
	buf_puts(out, is_required ? " " : " [");
	if (row->letter)
		buf_printf(out, "-%c", row->letter);
	else
		buf_puts(out, row->name);
	buf_printf(out, "%s%s%s", row->value ? " " : "", row->value ? row->value : "", more);
	buf_puts(out, is_required ? "" : "]");
}

const char *command_usage(struct cli *cli, const struct command *command)
{
	struct buf out = {.arena = cli->arena};
	buf_printf(&out, "expops %s", command->name);
	for (const struct parameter *row = command->parameters; row && row->name; row++)
		add_parameter(&out, row);
	return out.data;
}

const char *command_option_text(struct cli *cli, const struct parameter *row)
{
	const char *letter = row->letter ? arena_printf(cli->arena, "-%c, ", row->letter) : "";
	return arena_printf(cli->arena, "%s%s%s%s", letter, row->name, row->value ? " " : "",
	                    row->value ? row->value : "");
}
