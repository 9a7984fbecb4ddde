/** What stands for an id on the command line: the name of the object or the beginning of it, the
 * beginning of the id, the id itself, or the number that the last list of this session gave it. */
#pragma once

#include "program/cli.h"

#include <yyjson.h>

#include <stddef.h>

enum reference_kind {
	REFERENCE_NONE,
	REFERENCE_INTEREST,
	REFERENCE_EXPERIMENT,
	REFERENCE_PAPER,
	REFERENCE_RECOMMENDATION,
	REFERENCE_TEMPLATE,
	REFERENCE_BUILD,
	REFERENCE_EVAL_RUN,
	REFERENCE_KEY,
	REFERENCE_INBOX_ITEM,
	REFERENCE_COUNT
};

/** The id that `text` stands for. Fails when nothing or more than one thing is meant. Lists the
 * objects where only their names are known. In the arena. */
const char *reference_id(struct cli *cli, enum reference_kind kind, const char *text);

/** An object that was found. */
struct object {
	const char *id;
	const char *name; /* NULL: it is not known */
};

/** The object that `text` stands for, where another one must not be meant by mistake: by its whole
 * name, its id or a number of the last list, and not by the beginning of one. The objects of the
 * kind can be listed. Fails as reference_id(). */
struct object reference_exact(struct cli *cli, enum reference_kind kind, const char *text);

/** The id of the object of this very name, in upper and lower case alike; NULL: there is none. */
const char *reference_named(struct cli *cli, enum reference_kind kind, const char *name);

/** Remember the items of a list that was shown, so that their numbers stand for them. */
void reference_remember(struct cli *cli, enum reference_kind kind, yyjson_val **items,
                        size_t count);

/** The title of an item of the last list, or its name, as a message shows it; NULL: `text` is no
 * number of it. */
const char *reference_title(struct cli *cli, const char *text);

/** The names that can stand for objects of a kind, for the completion; ends with NULL. Empty where
 * they cannot be listed. */
const char **reference_names(struct cli *cli, enum reference_kind kind);
