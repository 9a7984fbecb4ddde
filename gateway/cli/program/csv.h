/** Reading CSV as RFC 4180 has it: cells with commas between, quoted where they hold commas, quotes
 * or line ends; lines end with CR LF or LF. A byte order mark is skipped. */
#pragma once

#include "program/cli.h"

#define CSV_CELLS_MAX 200

struct csv {
	struct cli *cli;
	const char *name; /* of the file, for messages */
	const char *at, *end;
	size_t line; /* of the text, from 1, where the cells that were read last begin */
	size_t next; /* where the next ones do */
	const char *cells[CSV_CELLS_MAX];
};

/** Begin to read a text without a NUL, which is borrowed. */
struct csv csv_open(struct cli *cli, const char *name, const char *text, size_t length);

/** Read the cells of the next line that is not empty into `csv->cells`, in the arena. Returns how
 * many; 0: there is no line. Fails for a quote that does not end, or has text behind it, and for
 * more than CSV_CELLS_MAX cells. */
size_t csv_line(struct csv *csv);
