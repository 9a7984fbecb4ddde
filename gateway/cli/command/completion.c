#include "command/completion.h"

#include "call/profile.h"
#include "completion_bash.h"
#include "completion_fish.h"
#include "completion_zsh.h"

#include <stdio.h>
#include <string.h>

#define TIMEOUT_MS 2000 /* for the names of objects; a shell waits */

void completion_run(struct cli *cli attr_unused, const struct arguments *arguments)
{
	static const struct {
		const char *shell, *script;
	} SCRIPTS[] = {{"bash", COMPLETION_BASH},
	               {"zsh", COMPLETION_ZSH},
	               {"fish", COMPLETION_FISH}};
	const char *shell = argument(arguments, "SHELL");
	for (size_t i = 0; i < ARRAY_LEN(SCRIPTS); i++)
		if (strcmp(SCRIPTS[i].shell, shell) == 0) {
			fputs(SCRIPTS[i].script, stdout);
			return;
		}
	cli_fail(EXIT_USAGE, "%s is none of bash, zsh and fish", shell);
}

/* The words up to the cursor. */
struct line {
	struct cli *cli;
	const struct command *command; /* NULL: not there yet */
	const char *const *words;      /* all but the last */
	size_t count;
	const char *last;      /* the one to complete, may be empty */
	const char *operation; /* the first argument of the command; NULL: none */
};

static void offer(const struct line *line, const char *candidate, const char *meaning)
{
	if (strncasecmp(candidate, line->last, strlen(line->last)) == 0)
		printf("%s\t%s\n", cli_shown(line->cli, candidate), meaning);
}

/* Each word of a text with spaces between. */
static void offer_words(const struct line *line, const char *words)
{
	for (size_t length; *words; words += length + (words[length] == ' ')) {
		length = strcspn(words, " ");
		offer(line, arena_strndup(line->cli->arena, words, length), "");
	}
}

/* ---- values ---- */

static void offer_forms(const struct line *line)
{
	offer_words(line, "text json jsonl");
}

static void offer_shells(const struct line *line)
{
	offer_words(line, "bash zsh fish");
}

static void offer_profiles(const struct line *line)
{
	for (const char **name = profile_names(line->cli); *name; name++)
		offer(line, *name, "");
}

static void offer_operations(const struct line *line)
{
	for (const struct operation *operation = operations(); operation->id; operation++)
		offer(line, operation->id, operation->summary);
}

/* FIELD= of an operation, and FIELD=VALUE where the values are known. */
static void offer_fields(const struct line *line)
{
	const struct operation *operation =
		line->operation ? operation_find(line->operation) : NULL;
	const struct operation_field *field = operation ? operation->fields : NULL;
	struct arena *arena = line->cli->arena;
	for (; field && field->name; field++) {
		const char *values = strchr(line->last, '=') ? field->values : "";
		if (!strchr(line->last, '='))
			offer(line, arena_printf(arena, "%s=", field->name),
			      field->is_required ? "required" : "");
		for (size_t length; *values; values += length + (values[length] == ' ')) {
			length = strcspn(values, " ");
			offer(line,
			      arena_printf(arena, "%s=%.*s", field->name, (int)length, values), "");
		}
	}
}

/* The next word of each command that begins with the words so far. */
static void offer_commands(const struct line *line)
{
	const char *offered = "";
	for (const struct command *command = COMMANDS; command->name; command++) {
		size_t first = strcspn(command->name, " ");
		const char *second = command->name[first] ? command->name + first + 1 : NULL;
		const char *word = arena_strndup(line->cli->arena, command->name, first);
		bool follows = line->count == 1 && second && strcmp(line->words[0], word) == 0;
		if (!command->summary)
			continue;
		if (follows)
			offer(line, second, command->summary);
		else if (line->count == 0 && strcmp(word, offered) != 0)
			offer(line, offered = word, second ? "" : command->summary);
	}
}

/* Of `help`: the words behind that. */
static void offer_help(const struct line *line)
{
	struct line rest = *line;
	rest.words++;
	rest.count--;
	offer_commands(&rest);
}

static void offer_references(const struct line *line, enum reference_kind kind)
{
	line->cli->timeout_ms = TIMEOUT_MS;
	for (const char **name = reference_names(line->cli, kind); *name; name++)
		offer(line, *name, "");
}

/* What stands for a value in the help, and what it can be. */
static const struct {
	const char *name;
	void (*offer)(const struct line *line);
} VALUES[] = {
	{"FORM", offer_forms},           {"SHELL", offer_shells},       {"PROFILE", offer_profiles},
	{"OPERATION", offer_operations}, {"FIELD=VALUE", offer_fields}, {"COMMAND", offer_help},
};

static void offer_values(const struct line *line, const struct parameter *row)
{
	const char *name = row->name[0] == '-' ? row->value : row->name;
	const struct operation *operation = line->command && line->command->operation
	                                            ? operation_find(line->command->operation)
	                                            : NULL;
	const struct operation_field *field =
		row->field ? operation_field(operation, row->field) : NULL;
	if (row->kind != REFERENCE_NONE)
		offer_references(line, row->kind);
	else if (field)
		offer_words(line, field->values);
	for (size_t i = 0; i < ARRAY_LEN(VALUES); i++)
		if (strcmp(VALUES[i].name, name) == 0)
			VALUES[i].offer(line);
}

static void offer_options(const struct line *line, const struct parameter *rows)
{
	for (; rows && rows->name; rows++)
		if (rows->name[0] == '-')
			offer(line, rows->name, rows->help);
}

/* ---- where the cursor is ---- */

/* The argument that the word is for, when `given` stand before it; NULL: there is no more. */
static const struct parameter *argument_at(const struct command *command, size_t given)
{
	for (const struct parameter *row = command->parameters; row && row->name; row++)
		if (row->name[0] != '-' && (row->flags & PARAMETER_REST || given-- == 0))
			return row;
	return NULL;
}

/* Read the words before the last one. Returns the option that the last one is the value of; NULL:
 * of none. *ret_given: the arguments of the command. */
static const struct parameter *read_line(struct line *line, size_t *ret_given)
{
	const struct parameter *option = NULL;
	const char **plain = arena_array(line->cli->arena, line->count + 1, sizeof(*plain));
	size_t count = 0, words = 0;
	for (size_t i = 0; i < line->count; i++) {
		const struct parameter *row =
			option ? NULL : command_option(line->command, line->words[i]);
		if (!option && line->words[i][0] != '-')
			plain[count++] = line->words[i];
		option = row && row->value && !strchr(line->words[i], '=') ? row : NULL;
		if (count <= 2)
			line->command = command_find(plain, count, &words);
	}
	line->words = plain;
	line->count = count;
	*ret_given = line->command ? count - words : 0;
	line->operation = *ret_given > 0 ? plain[words] : NULL;
	return option;
}

void complete_run(struct cli *cli, const struct arguments *arguments)
{
	size_t count = arguments->rest_count, given;
	struct line line = {cli,
	                    NULL,
	                    arguments->rest,
	                    count > 0 ? count - 1 : 0,
	                    count > 0 ? arguments->rest[count - 1] : "",
	                    NULL};
	const struct parameter *option = read_line(&line, &given), *row;
	if (option) {
		offer_values(&line, option);
	} else if (line.last[0] == '-') {
		offer_options(&line, line.command ? line.command->parameters : NULL);
		offer_options(&line, COMMON_OPTIONS);
	} else {
		offer_commands(&line);
		row = line.command ? argument_at(line.command, given) : NULL;
		if (row)
			offer_values(&line, row);
	}
}
