#include "program/cli.h"

#include "base/terminal.h"

#include <stdlib.h>
#include <string.h>

void cli_fail(enum exit_status status, const char *format, ...)
{
	struct arena *arena = arena_new();
	va_list args;
	va_start(args, format);
	const char *message =
		arena_printf(arena, "expops: %s\n", arena_vprintf(arena, format, args));
	va_end(args);
	fflush(stdout);
	terminal_print(stderr, message, strlen(message));
	arena_free(arena);
	exit(status);
}

const char *cli_shown(struct cli *cli, const char *text)
{
	return terminal_text(cli->arena, text);
}
