#include "reply/reply_csv.h"

#include "base/arena.h"
#include "json/csv.h"
#include "json/json.h"
#include "pg/pg.h"
#include "reply/reply.h"

#include <inttypes.h>

/* A page of rows is read, written and sent before the next. */
#define PAGE_ROWS 100

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

/* The ids from number `from` on that belong to one page, as a JSON array. */
static const char *page_ids(struct arena *arena, yyjson_val *ids, size_t from)
{
	yyjson_mut_doc *doc = json_doc_new(arena);
	yyjson_mut_val *page = yyjson_mut_arr(doc);
	size_t end = MIN_OF(from + PAGE_ROWS, yyjson_arr_size(ids));
	for (size_t i = from; i < end; i++)
		yyjson_mut_arr_add_str(doc, page, yyjson_get_str(yyjson_arr_get(ids, i)));
	return json_write_mut(arena, page, NULL);
}

static void send_page(struct request *rq, const struct sending *s, const char *ids)
{
	struct buf out = {.arena = rq->arena};
	yyjson_val *rows = json_parse_own(rq->arena, pg_json(s->list->read(rq, ids))), *row;
	size_t index, count;
	yyjson_arr_foreach (rows, index, count, row)
		add_line(&out, s, row);
	reply_stream_add(rq, out.data, out.length);
}

void reply_csv(struct request *rq, const struct csv_list *list, const struct pg_rows *outline)
{
	struct sending s = {.list = list};
	struct buf header = {.arena = rq->arena};
	yyjson_val *ids = json_parse_own(rq->arena, pg_get(outline, 0, "ids"));
	if (list->others)
		s.names = json_texts(rq->arena,
		                     json_parse_own(rq->arena, pg_get(outline, 0, "names")),
		                     &s.name_count);
	reply_header(rq, "X-Total-Count", "%" PRId64, pg_get_int(outline, 0, "total"));
	reply_header(rq, "Content-Disposition", "attachment; filename=\"%s.csv\"", list->name);
	reply_stream_begin(rq, 200, "text/csv; charset=utf-8");
	add_header(&header, &s);
	reply_stream_add(rq, header.data, header.length);
	for (size_t from = 0; from < yyjson_arr_size(ids); from += PAGE_ROWS) {
		request_page_begin(rq);
		send_page(rq, &s, page_ids(rq->arena, ids, from));
		request_page_end(rq);
	}
}
