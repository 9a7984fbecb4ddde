/** How the answer of an operation is shown. A view is a table of columns; the same columns are the
 * lines of a record. With -o json the answer is printed as it is, with -o jsonl the items of its
 * list, so a view decides nothing for programs but which list that is. */
#pragma once

#include "call/call.h"
#include "call/reference.h"

/** How a value becomes text. */
enum cell {
	CELL_TEXT,  /* lists are joined with commas */
	CELL_STATE, /* a word of a state, coloured */
	CELL_AGE,   /* a time: `5 min`, `3 h`, `12 d`; in a record also the time itself */
	CELL_SCORE, /* two decimal places */
	CELL_COST,  /* US dollars */
	CELL_FLAG,  /* `yes`, or nothing */
	CELL_COUNT, /* a number, aligned to the right */
};

struct column {
	const char *title;
	const char *path; /* JSON pointer (RFC 6901) in the item */
	enum cell cell;
	unsigned flags;
};

/* Flags of a column. */
#define COLUMN_WIDE  1u /* takes what room is left, and is cut where there is too little */
#define COLUMN_EXTRA 2u /* is left out where there is too little room */

struct view {
	const char
		*items; /* where the list is: a JSON pointer, in which `*` is every item of a list;
	                      NULL: the answer is a record */
	const struct column *columns; /* ends with a column without a title */
	const char *nothing;          /* said of an empty list */
	enum reference_kind listed;   /* what the items are, for the numbers of the last list */
	/* Shows the answer to people in another way; NULL: a table or a record. */
	void (*draw)(struct cli *cli, yyjson_val *answer);
};

/** Print the answer in the form that was asked for, and say on standard error when a list is not
 * whole. Fails when it is no JSON. Remembers the items of a list, so that their numbers stand for
 * them (reference.h). */
void view_show(struct cli *cli, const struct view *view, const struct answer *answer);

/** Print JSON, indented, without what a terminal obeys. */
void view_print_json(yyjson_val *value);

/** The items of a list, also of one that is in several places. Returns their number. In the
 * arena. */
size_t view_items(struct cli *cli, yyjson_val *answer, const char *path, yyjson_val ***ret_items);

/** The text of a value as a cell of a table; "" for null. In the arena. */
const char *cell_text(struct cli *cli, yyjson_val *value, enum cell cell);

/** The lines of a record, without those that are empty, and a table of the items of a list. */
void view_print_record(struct cli *cli, const struct column *columns, yyjson_val *record);
void view_print_table(struct cli *cli, const struct column *columns, yyjson_val *list);
