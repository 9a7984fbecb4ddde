#include "program/cli.h"

#include "base/terminal.h"
#include "base/utf8.h"

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

void cli_exit(enum exit_status status)
{
	if (fflush(stdout) != 0 || ferror(stdout))
		cli_fail(EXIT_FAILED, "standard output cannot be written");
	exit(status);
}

void cli_check_text(struct cli *cli, const char *name, const char *text, size_t length)
{
	if (memchr(text, '\0', length))
		cli_fail(EXIT_USAGE, "%s has a NUL, so it is no text", cli_shown(cli, name));
	if (!utf8_is_valid(text, length))
		cli_fail(EXIT_USAGE, "%s is not UTF-8", cli_shown(cli, name));
}

const char *cli_shown(struct cli *cli, const char *text)
{
	return terminal_text(cli->arena, text);
}
