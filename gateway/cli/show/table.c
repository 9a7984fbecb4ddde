#include "show/table.h"

#include "program/text.h"

#include <stdio.h>
#include <string.h>

#define COLUMNS_MAX 16
#define GAP         2  /* columns of the screen between two of the table */
#define WIDE_MIN    24 /* below this, extra columns are left out first */
#define WIDE_LEAST  8

struct layout {
	const struct column *columns;
	size_t count;
	size_t widths[COLUMNS_MAX]; /* 0: left out */
};

static void measure(struct layout *layout, size_t row_count, const char **cells)
{
	for (layout->count = 0; layout->columns[layout->count].title; layout->count++)
		layout->widths[layout->count] = text_width(layout->columns[layout->count].title);
	require(layout->count <= COLUMNS_MAX);
	for (size_t i = 0; i < row_count * layout->count; i++) {
		size_t *width = &layout->widths[i % layout->count];
		*width = MAX_OF(*width, text_width(cells[i]));
	}
}

static size_t total(const struct layout *layout)
{
	size_t sum = 0;
	for (size_t i = 0; i < layout->count; i++)
		sum += layout->widths[i] > 0 ? layout->widths[i] + GAP : 0;
	return sum > GAP ? sum - GAP : 0;
}

/* Make wide columns narrower, the widest first, until the table fits or all of them are at
 * `least`. */
static void narrow(struct layout *layout, size_t columns, size_t least)
{
	while (total(layout) > columns) {
		size_t *widest = NULL;
		for (size_t i = 0; i < layout->count; i++)
			if (layout->columns[i].flags & COLUMN_WIDE && layout->widths[i] > least &&
			    (!widest || layout->widths[i] > *widest))
				widest = &layout->widths[i];
		if (!widest)
			return;
		--*widest;
	}
}

static bool leave_out_extra(struct layout *layout)
{
	for (size_t i = layout->count; i-- > 0;)
		if (layout->columns[i].flags & COLUMN_EXTRA && layout->widths[i] > 0) {
			layout->widths[i] = 0;
			return true;
		}
	return false;
}

static void fit(struct layout *layout, size_t columns)
{
	struct layout whole = *layout;
	if (columns == 0)
		return;
	do {
		memcpy(layout->widths, whole.widths, sizeof(whole.widths));
		narrow(layout, columns, WIDE_MIN);
	} while (total(layout) > columns && leave_out_extra(&whole));
	narrow(layout, columns, WIDE_LEAST);
}

static enum style style_of(const struct column *column, const char *text)
{
	return column->cell == CELL_STATE ? screen_style_of(text) : STYLE_NONE;
}

static void print_cell(struct cli *cli, const struct column *column, size_t width, const char *text,
                       enum style style, bool is_last)
{
	const char *cut = cli->screen.columns > 0 ? text_cut(cli->arena, text, width) : text;
	int padding = (int)(width - text_width(cut));
	bool is_right = column->cell == CELL_COUNT || column->cell == CELL_COST ||
	                column->cell == CELL_SCORE;
	printf("%*s%s%*s", is_right ? padding : 0, "",
	       screen_style(&cli->screen, cli->arena, style, cut),
	       is_right || is_last ? 0 : padding, "");
	printf("%*s", is_last ? 0 : GAP, "");
}

static void print_row(struct cli *cli, const struct layout *layout, const char **cells,
                      bool is_head)
{
	size_t last = layout->count - 1;
	while (last > 0 && layout->widths[last] == 0)
		last--;
	for (size_t i = 0; i <= last; i++) {
		const struct column *column = &layout->columns[i];
		const char *text = is_head ? column->title : cells[i];
		if (layout->widths[i] > 0)
			print_cell(cli, column, layout->widths[i], text,
			           is_head ? STYLE_DIM : style_of(column, text), i == last);
	}
	putchar('\n');
}

void table_print(struct cli *cli, const struct column *columns, size_t row_count,
                 const char **cells)
{
	struct layout layout = {.columns = columns};
	measure(&layout, row_count, cells);
	fit(&layout, cli->screen.columns);
	print_row(cli, &layout, NULL, true);
	for (size_t i = 0; i < row_count; i++)
		print_row(cli, &layout, cells + i * layout.count, false);
}
