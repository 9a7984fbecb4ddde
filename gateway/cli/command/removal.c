#include "command/removal.h"

#include "program/prompt.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* How people are asked, and told what has happened. */
static const struct wording {
	const char *command;
	const char *verb, *rest; /* of the question: before and after the object's name */
	const char *done;        /* before its name; NULL: the answer of the service is shown */
} WORDINGS[] = {
	{"interest remove", "Delete the interest",
         " with its recommendations, feedback and preference model", "removed"},
	{"key revoke", "Revoke the key", "", NULL},
	{"eval cancel", "Cancel the evaluation run", "", NULL},
};

static const struct wording *wording_of(const struct command *command)
{
	const struct wording *wording = WORDINGS;
	while (strcmp(wording->command, command->name) != 0)
		wording++;
	return wording;
}

static void require_consent(struct cli *cli, const struct arguments *arguments,
                            const struct wording *wording, const char *name)
{
	if (argument(arguments, "--yes") || !isatty(STDIN_FILENO))
		return;
	if (!prompt_confirm(cli, arena_printf(cli->arena, "%s %s%s?", wording->verb, name,
	                                      wording->rest)))
		cli_fail(EXIT_FAILED, "nothing was changed");
}

void removal_run(struct cli *cli, const struct arguments *arguments)
{
	const struct command *command = arguments->command;
	const struct parameter *row = command->parameters; /* the object */
	const struct wording *wording = wording_of(command);
	struct object object = reference_exact(cli, row->kind, arguments->values[0]);
	const char *name = cli_shown(cli, object.name && *object.name ? object.name : object.id);
	require_consent(cli, arguments, wording, name);
	struct query *query = query_new(cli, command->operation);
	query_set(query, row->field, object.id);
	struct answer *answer = call(query);
	if (cli->form == FORM_TEXT && wording->done)
		printf("%s: %s\n", wording->done, name);
	else
		view_show(cli, command->view, answer);
}
