/* expops, the command line: see cli.h. */
#include "call/call.h"
#include "command/command.h"

int main(int argc, char **argv)
{
	struct cli cli = {.arena = arena_new_wiped()};
	screen_init(&cli.screen);
	command_run(&cli, command_parse(&cli, argc, argv));
	call_end(&cli);
	arena_free(cli.arena);
	cli_exit(EXIT_OK);
}
