#include "reply/reply_csv.h"

#include "base/arena.h"
#include "input/input.h"
#include "json/csv.h"
#include "json/json.h"
#include "loop/wait.h"
#include "pg/pg.h"
#include "reply/reply.h"

#include <inttypes.h>
#include <string.h>

/* A page of rows is read, written and sent before the next. */
#define PAGE_ROWS ((size_t)100)

/* What is sent. */
struct sending {
	const struct csv_list *list;
	const char **names; /* of the columns of `others` */
	size_t name_count;
};

static void add_header(struct buf *out, const struct sending *s)
{
	const char *const *columns = s->list->columns;
	for (size_t i = 0; columns[i]; i++)
		csv_text(out, columns[i], i == 0);
	for (size_t i = 0; i < s->name_count; i++)
		csv_text(out, arena_printf(out->arena, "%s.%s", s->list->others, s->names[i]),
		         false);
	csv_line_end(out);
}

static void add_line(struct buf *out, const struct sending *s, yyjson_val *row)
{
	const char *const *columns = s->list->columns;
	yyjson_val *others = s->list->others ? json_get(row, s->list->others) : NULL;
	for (size_t i = 0; columns[i]; i++)
		csv_cell(out, json_at(row, columns[i]), i == 0);
	for (size_t i = 0; i < s->name_count; i++)
		csv_cell(out, json_get(others, s->names[i]), false);
	csv_line_end(out);
}

/* Ids from number `from` on, up to `count`, as a JSON array. */
static const char *page_ids(struct arena *arena, yyjson_val *ids, size_t from, size_t count)
{
	yyjson_mut_doc *doc = json_doc_new(arena);
	yyjson_mut_val *page = yyjson_mut_arr(doc);
	for (size_t i = from; i < from + count; i++)
		yyjson_mut_arr_add_str(doc, page, yyjson_get_str(yyjson_arr_get(ids, i)));
	return json_write_mut(arena, page, NULL);
}

struct writing {
	const struct sending *sending;
	struct arena *arena; /* for the parsed rows */
	const char *rows;
	struct buf *out;
};

static void write_lines(void *arg)
{
	struct writing *writing = arg;
	yyjson_val *rows = json_parse_own(writing->arena, writing->rows), *row;
	size_t index, count;
	yyjson_arr_foreach (rows, index, count, row)
		add_line(writing->out, writing->sending, row);
}

/* Read the rows of up to `count` ids and append their lines to `out`. Of how many it was. The rows
 * are freed before the lines are sent: a client may take its time. */
static size_t write_page(struct request *rq, const struct sending *s, yyjson_val *ids, size_t from,
                         size_t count, struct buf *out)
{
	request_page_begin(rq);
	struct pg_rows *read = s->list->read(rq, page_ids(rq->arena, ids, from, count));
	size_t taken = read->columns > 1 ? (size_t)pg_get_int(read, 0, "taken") : count;
	struct writing writing = {s, rq->arena, pg_json(read), out};
	require(taken > 0 && taken <= count);
	fiber_offload_text(rq, strlen(writing.rows), write_lines, &writing);
	request_page_end(rq);
	return taken;
}

/* After a page that was cut, the next asks for no more rows than that had, then for twice as many:
 * large rows are not read over and over. */
static void send_pages(struct request *rq, const struct sending *s, yyjson_val *ids)
{
	size_t total = yyjson_arr_size(ids), asked = PAGE_ROWS, taken;
	for (size_t from = 0; from < total; from += taken) {
		size_t count = MIN_OF(asked, total - from);
		request_page_begin(rq);
		struct buf out = {.arena = rq->arena};
		taken = write_page(rq, s, ids, from, count, &out);
		reply_stream_add(rq, out.data, out.length);
		request_page_end(rq);
		asked = taken < count ? taken : MIN_OF(2 * asked, PAGE_ROWS);
	}
}

void reply_csv(struct request *rq, const struct csv_list *list, const struct pg_rows *outline)
{
	struct sending s = {.list = list};
	struct buf header = {.arena = rq->arena};
	yyjson_val *ids = request_parse_own(rq, pg_get(outline, 0, "ids"));
	if (list->others)
		s.names = json_texts(rq->arena,
		                     json_parse_own(rq->arena, pg_get(outline, 0, "names")),
		                     &s.name_count);
	reply_header(rq, "X-Total-Count", "%" PRId64, pg_get_int(outline, 0, "total"));
	reply_header(rq, "Content-Disposition", "attachment; filename=\"%s.csv\"", list->name);
	reply_stream_begin(rq, 200, "text/csv; charset=utf-8");
	add_header(&header, &s);
	reply_stream_add(rq, header.data, header.length);
	send_pages(rq, &s, ids);
}
