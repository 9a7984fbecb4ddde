/** The commands. Each is a row of a table (commands.c), which also makes the help, the completion
 * and the manual. Most rows need no code: the arguments become fields of an operation, and a view
 * shows the answer. */
#pragma once

#include "call/query.h"
#include "show/view.h"

#include <stdbool.h>

#define PARAMETERS_MAX 16

/** An argument or an option of a command. */
struct parameter {
	const char *name;  /* of an argument, INTEREST; of an option, --limit */
	char letter;       /* of an option; 0: none */
	const char *value; /* of an option: what the help calls its value; NULL: it has none */
	enum reference_kind kind; /* what the value stands for; REFERENCE_NONE: itself */
	const char *field; /* of the operation, which gets the value; NULL: the command uses it */
	const char *constant; /* of an option without a value: what the field gets */
	unsigned flags;
	const char *help;
};

/* Flags of a parameter. */
#define PARAMETER_REQUIRED 1u
#define PARAMETER_REST     2u  /* takes all further arguments, as one text with spaces between */
#define PARAMETER_FILE     4u  /* is a path, which shells complete */
#define PARAMETER_LIMIT    8u  /* how many items of the list that the command shows: pages.h */
#define PARAMETER_ALL      16u /* all of them, in place of that */

struct arguments;

struct command {
	const char *group;     /* the heading above it in the help; NULL: that of the row before */
	const char *name;      /* one word or two, `interest add` */
	const char *operation; /* that it calls first; NULL: none */
	const struct parameter *parameters; /* ends with a row without a name */
	const char *summary;                /* of `expops help`; NULL: not listed there */
	const struct view *view;            /* of the answer */
	/* Runs the command; NULL: the operation is called, and its answer shown. */
	void (*run)(struct cli *cli, const struct arguments *arguments);
	const char *help; /* more sentences; NULL: none */
};

/** The arguments of a run. */
struct arguments {
	const struct command *command;
	const char *values[PARAMETERS_MAX]; /* of the parameter of the same number; NULL: not given.
	                                       For an option without a value: "" */
	const char *const *rest;            /* of PARAMETER_REST, one by one */
	size_t rest_count;
	/* Options that were given again, whose fields are lists: an item more. Of others `values`
	 * has the last one alone. */
	struct repeated {
		const struct parameter *row;
		const char *value;
	} * repeated;
	size_t repeated_count;
};

/** All commands; ends with a row without a name. */
extern const struct command COMMANDS[];

/** Options of every command, the same rows. */
extern const struct parameter COMMON_OPTIONS[];

/** The command that the words begin with, the longest name first, and how many words it has; NULL:
 * none. */
const struct command *command_find(const char *const *words, size_t count, size_t *ret_words);

/** Read the options and the command of the program's arguments. Fails with a hint. Prints the help
 * and exits where that is asked for. */
const struct arguments *command_parse(struct cli *cli, int argc, char **argv);

/** Run it. */
void command_run(struct cli *cli, const struct arguments *arguments);

/** The value of a parameter of the command, by its name; NULL: not given. */
const char *argument(const struct arguments *arguments, const char *name);

/** A request to the command's operation, with the fields that its parameters name; or to another
 * operation that has these fields, too. */
struct query *command_query(struct cli *cli, const struct arguments *arguments);
struct query *command_query_for(struct cli *cli, const struct arguments *arguments,
                                const char *operation);

/** The option that a word names, `-n5` or `--limit=5`, of the command or of every one; NULL: it is
 * none. `command` may be NULL. */
const struct parameter *command_option(const struct command *command, const char *word);

/** An option with its letter and its value, `-n, --limit N`; an argument as it is. In the arena. */
const char *command_option_text(struct cli *cli, const struct parameter *row);

/** The command in one line, `expops interest add NAME [--context FILE]`. In the arena. */
const char *command_usage(struct cli *cli, const struct command *command);
