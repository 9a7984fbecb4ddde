#include "program/csv.h"

#include <stdbool.h>
#include <string.h>

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

struct csv csv_open(struct cli *cli, const char *name, const char *text, size_t length)
{
	size_t mark = strlen(BYTE_ORDER_MARK);
	if (strncmp(text, BYTE_ORDER_MARK, mark) != 0)
		mark = 0;
	return (struct csv){cli, name, text + mark, text + length, 1, 1, {0}};
}

/* The cell in quotes that begins at `csv->at`; two quotes in it are one. */
static const char *quoted_cell(struct csv *csv)
{
	struct buf cell = {.arena = csv->cli->arena};
	const char *from = csv->at + 1;
	buf_puts(&cell, "");
	for (; from < csv->end && (*from != '"' || from[1] == '"'); from++) {
		from += *from == '"';
		csv->next += *from == '\n';
		buf_add(&cell, from, 1);
	}
	if (from == csv->end)
		cli_fail(EXIT_USAGE, "%s, line %zu: a quote does not end", csv->name, csv->line);
	csv->at = from + 1;
	if (csv->at < csv->end && !strchr(",\r\n", *csv->at))
		cli_fail(EXIT_USAGE, "%s, line %zu: there is text behind a quote", csv->name,
		         csv->next);
	return cell.data;
}

static const char *plain_cell(struct csv *csv)
{
	size_t length = strcspn(csv->at, ",\r\n");
	const char *cell = arena_strndup(csv->cli->arena, csv->at, length);
	csv->at += length;
	return cell;
}

/* Go behind the comma, or the end of the line. True: another cell of the line follows. */
static bool next_cell(struct csv *csv)
{
	bool follows = csv->at < csv->end && *csv->at == ',';
	if (follows)
		csv->at++;
	else {
		csv->at += csv->at < csv->end && *csv->at == '\r';
		csv->at += csv->at < csv->end && *csv->at == '\n';
		csv->next++;
	}
	return follows;
}

static void skip_empty_lines(struct csv *csv)
{
	for (; csv->at < csv->end && strchr("\r\n", *csv->at); csv->at++)
		csv->next += *csv->at == '\n';
}

size_t csv_line(struct csv *csv)
{
	size_t count = 0;
	skip_empty_lines(csv);
	csv->line = csv->next;
	if (csv->at == csv->end)
		return 0;
	do {
		if (count == CSV_CELLS_MAX)
			cli_fail(EXIT_USAGE, "%s, line %zu: there are more than %d cells",
			         csv->name, csv->line, CSV_CELLS_MAX);
		csv->cells[count++] = *csv->at == '"' ? quoted_cell(csv) : plain_cell(csv);
	} while (next_cell(csv));
	return count;
}
