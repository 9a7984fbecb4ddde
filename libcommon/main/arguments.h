/** The arguments of a command (struct command), declared in a table, as input/input.h does it for
 * requests. Options begin with two hyphens and stand in any order; the other arguments are the
 * operands.
 *
 *     struct export { const char *before, *target; };
 *
 *     static const struct argument ARGUMENTS[] = {
 *             ARGUMENT_TEXT(struct export, before, "before"),
 *             ARGUMENT_TEXT(struct export, target, "to"),
 *             ARGUMENT_END,
 *     };
 *
 * A command whose arguments are wrong returns COMMAND_USAGE (main/command_run.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum argument_kind {
	ARGUMENT_IS_TEXT,   /* `--before DATE`: a const char * */
	ARGUMENT_IS_FLAG,   /* `--undo`: a bool, which becomes true */
	ARGUMENT_IS_NUMBER, /* `--limit N`: an int64_t from 1 to `most` */
};

struct argument {
	const char *name; /* without its hyphens; NULL ends a table */
	enum argument_kind kind;
	size_t offset; /* of the member */
	int64_t most;  /* of a number */
};

/* Offset of a member; a member of another type does not compile. */
#define ARGUMENT_AT(s, member, type)                                                          \
	(offsetof(s, member) +                                                                \
	 0 * sizeof(char[__builtin_types_compatible_p(__typeof__(((s *)0)->member), type) ? 1 \
	                                                                                  : -1]))

#define ARGUMENT_TEXT(s, m, name)                                       \
	{                                                               \
		name, ARGUMENT_IS_TEXT, ARGUMENT_AT(s, m, const char *) \
	}
#define ARGUMENT_FLAG(s, m, name)                               \
	{                                                       \
		name, ARGUMENT_IS_FLAG, ARGUMENT_AT(s, m, bool) \
	}
#define ARGUMENT_NUMBER(s, m, name, most)                                  \
	{                                                                  \
		name, ARGUMENT_IS_NUMBER, ARGUMENT_AT(s, m, int64_t), most \
	}
#define ARGUMENT_END \
	{            \
		NULL \
	}

/** Read the options into the members of `values`; of those that are not given, the members stay as
 * they are. A text is borrowed from argv. Returns the operands, NULL-terminated. NULL, after a line
 * on standard error: an option is unknown, lacks its value, or is no such number. */
char **arguments_read(int argc, char **argv, const struct argument *table, void *values);

/** The same for a command without operands. False: the arguments are wrong. */
bool options_read(int argc, char **argv, const struct argument *table, void *values);
