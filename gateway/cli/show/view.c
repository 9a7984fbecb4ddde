#include "show/view.h"

#include "base/terminal.h"
#include "base/timefmt.h"
#include "json/json.h"
#include "program/text.h"
#include "show/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_GAP 2

static const char *list_text(struct cli *cli, yyjson_val *list)
{
	struct buf out = {.arena = cli->arena};
	size_t index, count;
	yyjson_val *item;
	buf_puts(&out, "");
	yyjson_arr_foreach (list, index, count, item)
		buf_printf(&out, "%s%s", index > 0 ? ", " : "", cell_text(cli, item, CELL_TEXT));
	return out.data;
}

static const char *plain_text(struct cli *cli, yyjson_val *value)
{
	if (yyjson_is_str(value))
		return cli_shown(cli, yyjson_get_str(value));
	if (yyjson_is_arr(value))
		return list_text(cli, value);
	return cli_shown(cli, json_write(cli->arena, value, NULL));
}

/* How long ago a time was, in one unit. */
static const char *age_text(struct cli *cli, yyjson_val *value)
{
	static const struct {
		int64_t seconds;
		const char *name;
	} UNITS[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
	int64_t time, age;
	if (!yyjson_is_str(value) ||
	    !time_parse(yyjson_get_str(value), yyjson_get_len(value), &time))
		return plain_text(cli, value);
	age = MAX_OF((time_now_ms() - time) / 1000, 0);
	for (size_t i = 0; i < ARRAY_LEN(UNITS); i++)
		if (age >= UNITS[i].seconds)
			return arena_printf(cli->arena, "%lld %s",
			                    (long long)(age / UNITS[i].seconds), UNITS[i].name);
	return "now";
}

const char *cell_text(struct cli *cli, yyjson_val *value, enum cell cell)
{
	if (!value || yyjson_is_null(value))
		return "";
	switch (cell) {
	case CELL_AGE:
		return age_text(cli, value);
	case CELL_SCORE:
		return yyjson_is_num(value)
		               ? arena_printf(cli->arena, "%.2f", yyjson_get_num(value))
		               : plain_text(cli, value);
	case CELL_COST:
		return yyjson_is_num(value)
		               ? arena_printf(cli->arena, "$%.2f", yyjson_get_num(value))
		               : plain_text(cli, value);
	case CELL_FLAG:
		return yyjson_is_bool(value) ? (yyjson_get_bool(value) ? "yes" : "")
		                             : plain_text(cli, value);
	default:
		return plain_text(cli, value);
	}
}

struct gathering {
	yyjson_val **items;
	size_t count, capacity;
	struct arena *arena;
};

static void gather(struct gathering *to, yyjson_val *list)
{
	size_t index, count;
	yyjson_val *item;
	yyjson_arr_foreach (list, index, count, item) {
		if (to->count == to->capacity) {
			size_t size = to->capacity * sizeof(*to->items);
			to->capacity = MAX_OF(2 * to->capacity, 64);
			to->items = arena_grow(to->arena, to->items, size,
			                       to->capacity * sizeof(*to->items));
		}
		to->items[to->count++] = item;
	}
}

size_t view_items(struct cli *cli, yyjson_val *answer, const char *path, yyjson_val ***ret_items)
{
	struct gathering found = {.arena = cli->arena};
	const char *star = strstr(path, "/*");
	if (!star) {
		gather(&found, yyjson_ptr_get(answer, path));
	} else {
		size_t index, count;
		yyjson_val *outer,
			*list = yyjson_ptr_get(answer, arena_strndup(cli->arena, path,
		                                                     (size_t)(star - path)));
		yyjson_arr_foreach (list, index, count, outer)
			gather(&found, yyjson_ptr_get(outer, star + 2));
	}
	*ret_items = found.items;
	return found.count;
}

void view_print_json(yyjson_val *value)
{
	size_t length;
	char *text = yyjson_val_write_opts(value,
	                                   YYJSON_WRITE_PRETTY_TWO_SPACES |
	                                           YYJSON_WRITE_INF_AND_NAN_AS_NULL,
	                                   NULL, &length, NULL);
	require(text);
	terminal_print(stdout, text, length);
	putchar('\n');
	free(text);
}

static void print_line_json(struct cli *cli, yyjson_val *value)
{
	size_t length;
	const char *text = json_write(cli->arena, value, &length);
	terminal_print(stdout, text, length);
	putchar('\n');
}

static void print_line(struct cli *cli, size_t label_width, const char *label, const char *text)
{
	size_t indent = label_width + LABEL_GAP;
	if (*text == '\0')
		return;
	printf("%s%*s%s\n", screen_style(&cli->screen, cli->arena, STYLE_DIM, label),
	       (int)(indent - text_width(label)), "",
	       text_wrap(cli->arena, text, indent, cli->screen.columns));
}

static const char *record_text(struct cli *cli, const struct column *column, yyjson_val *value)
{
	const char *text = cell_text(cli, value, column->cell);
	if (column->cell == CELL_STATE)
		return screen_style(&cli->screen, cli->arena, screen_style_of(text), text);
	if (column->cell == CELL_AGE && *text)
		return arena_printf(cli->arena, "%s (%s%s)", plain_text(cli, value), text,
		                    strcmp(text, "now") == 0 ? "" : " ago");
	return text;
}

void view_print_record(struct cli *cli, const struct column *columns, yyjson_val *record)
{
	size_t width = 0;
	for (const struct column *column = columns; column->title; column++)
		width = MAX_OF(width, text_width(column->title));
	for (const struct column *column = columns; column->title; column++)
		print_line(cli, width, column->title,
		           record_text(cli, column, yyjson_ptr_get(record, column->path)));
}

static size_t column_count(const struct column *columns)
{
	size_t count = 0;
	while (columns[count].title)
		count++;
	return count;
}

/* A path of "#" is the number in the list. */
static const char *item_text(struct cli *cli, const struct column *column, yyjson_val *item,
                             size_t number)
{
	if (strcmp(column->path, "#") == 0)
		return arena_printf(cli->arena, "%zu", number);
	return cell_text(cli, yyjson_ptr_get(item, column->path), column->cell);
}

static void print_table(struct cli *cli, const struct column *columns, yyjson_val **items,
                        size_t count)
{
	size_t width = column_count(columns);
	const char **cells = arena_array(cli->arena, MAX_OF(count * width, 1), sizeof(*cells));
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < width; k++)
			cells[i * width + k] = item_text(cli, &columns[k], items[i], i + 1);
	table_print(cli, columns, count, cells);
}

void view_print_table(struct cli *cli, const struct column *columns, yyjson_val *list)
{
	yyjson_val **items;
	size_t count = view_items(cli, list, "", &items);
	print_table(cli, columns, items, count);
}

static void show_list(struct cli *cli, const struct view *view, const struct answer *answer,
                      yyjson_val **items, size_t count)
{
	if (view->draw)
		view->draw(cli, answer->json);
	else if (count > 0)
		print_table(cli, view->columns, items, count);
	else if (cli->screen.is_terminal)
		printf("%s\n", view->nothing);
}

static void show_text(struct cli *cli, const struct view *view, const struct answer *answer,
                      yyjson_val **items, size_t count)
{
	if (view->items)
		show_list(cli, view, answer, items, count);
	else if (view->draw)
		view->draw(cli, answer->json);
	else
		view_print_record(cli, view->columns, answer->json);
}

/* Not to who reads standard output: that is a list, and nothing else. */
static void tell_cut(size_t count, int64_t total)
{
	fflush(stdout);
	fprintf(stderr, "expops: %zu of %" PRId64 "; -n N shows more\n", count, total);
}

void view_show(struct cli *cli, const struct view *view, const struct answer *answer)
{
	yyjson_val **items = NULL;
	if (!answer->json)
		cli_fail(EXIT_FAILED, "the answer is not JSON; is this the address of expops?");
	size_t count = view->items ? view_items(cli, answer->json, view->items, &items) : 0;
	if (view->listed != REFERENCE_NONE)
		reference_remember(cli, view->listed, items, count);
	if (cli->form == FORM_JSON)
		view_print_json(answer->json);
	else if (cli->form == FORM_TEXT)
		show_text(cli, view, answer, items, count);
	else if (!view->items)
		print_line_json(cli, answer->json);
	for (size_t i = 0; cli->form == FORM_LINES && i < count; i++)
		print_line_json(cli, items[i]);
	if (view->items && answer->total > (int64_t)count)
		tell_cut(count, answer->total);
}
