#include "program/prompt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NULL: the file has ended. */
static const char *read_line(struct cli *cli)
{
	char *line = NULL;
	size_t size = 0;
	const char *copy = NULL;
	if (getline(&line, &size, stdin) >= 0)
		copy = arena_strndup(cli->arena, line, strcspn(line, "\r\n"));
	free(line);
	return copy;
}

const char *prompt_line(struct cli *cli)
{
	const char *line = read_line(cli);
	if (!line)
		cli_fail(EXIT_USAGE, "nothing was entered");
	return line;
}

const char *prompt_text(struct cli *cli, const char *what, const char *fallback)
{
	fprintf(stderr, fallback ? "%s [%s]: " : "%s: ", what, fallback);
	const char *line = prompt_line(cli);
	return *line || !fallback ? line : fallback;
}

bool prompt_confirm(struct cli *cli, const char *question)
{
	fprintf(stderr, "%s [y/N] ", question);
	const char *line = read_line(cli);
	return line && (strcasecmp(line, "y") == 0 || strcasecmp(line, "yes") == 0);
}
