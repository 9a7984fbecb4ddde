/** gateway/cli/: `expops`, the command line, a client of the public interface like any other.
 *
 *     main.c        options, the command, the exit status
 *     command/      the commands; commands.c, their table: what help, completion and manual show
 *     show/         how an answer is shown: as a table, a record or JSON
 *     call/         the operations, from the API's description; requests and their answers; names,
 *                   prefixes and numbers that stand for ids; following work that takes longer
 *     program/      the state of the program, its terminal and its files
 *
 * What the server says is data: it is printed without what a terminal obeys (base/terminal.h), ids
 * of it are percent-encoded in paths, and no address of it is followed. A failure is one message on
 * standard error, and ends the program: cli_fail().
 */
#pragma once

#include "base/arena.h"
#include "program/screen.h"

/** The status with which the program exits. */
enum exit_status {
	EXIT_OK = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,        /* wrong arguments, or the service refused the input */
	EXIT_NOT_FOUND = 3,    /* there is no such command, operation, object or name */
	EXIT_NOT_ALLOWED = 4,  /* no key, a wrong one, or one without the scope */
	EXIT_NOT_FOLLOWED = 5, /* the work was started, and what becomes of it is not known */
};

#define EXIT_BY_SIGNAL 128 /* and the number of the signal, as shells say it */

/** How answers are written on standard output. */
enum form {
	FORM_TEXT,  /* tables and records, for people */
	FORM_JSON,  /* the answer, indented */
	FORM_LINES, /* each item of a list on a line of its own */
};

struct cli {
	struct arena *arena; /* lives as long as the program */
	enum form form;
	const char *profile_name;      /* of --profile; NULL: EXPOPS_PROFILE, or the default one */
	const struct profile *profile; /* profile_get() */
	struct screen screen;          /* standard output */
	long timeout_ms;               /* of a request; 0: the usual one */
	void *curl;                    /* call.c: the connection */
};

/** Write `expops: MESSAGE` on standard error and exit. */
attr_noreturn void cli_fail(enum exit_status status, const char *format, ...) attr_printf(2, 3);

/** Exit with a status; with EXIT_FAILED and a message if not all of standard output could be
 * written. */
attr_noreturn void cli_exit(enum exit_status status);

/** Require that an argument or the content of a file is UTF-8 without a NUL, as JSON's texts are:
 * what is not would be stored with other characters. `name` is of what it is, for the message. */
void cli_check_text(struct cli *cli, const char *name, const char *text, size_t length);

/** Text from outside, as a part of a line of a message or a table: terminal_text(). */
const char *cli_shown(struct cli *cli, const char *text);
