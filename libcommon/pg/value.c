#include "base/base.h"
#include "base/crypto.h"
#include "base/timefmt.h"
#include "pg/internal.h"

#include <stdlib.h>
#include <string.h>

struct pg_param pg_text(const char *text)
{
	return (struct pg_param){text};
}

struct pg_param pg_null(void)
{
	return (struct pg_param){NULL};
}

struct pg_param pg_bool(bool value)
{
	return (struct pg_param){value ? "t" : "f"};
}

struct pg_param pg_int_in(struct request *rq, int64_t value)
{
	return (struct pg_param){arena_printf(rq->arena, "%lld", (long long)value)};
}

struct pg_param pg_float_in(struct request *rq, double value)
{
	/* 17 digits carry every double (IEEE 754). */
	return (struct pg_param){arena_printf(rq->arena, "%.17g", value)};
}

struct pg_param pg_uuid_in(struct request *rq, struct uuid value)
{
	char *text = arena_alloc(rq->arena, UUID_TEXT_LEN + 1);
	uuid_format(&value, text);
	return (struct pg_param){text};
}

struct pg_param pg_bytes_in(struct request *rq, const void *data, size_t length)
{
	char *text = arena_alloc(rq->arena, 2 * length + 3);
	memcpy(text, "\\x", 2);
	hex_encode(data, length, text + 2);
	return (struct pg_param){text};
}

struct pg_param pg_time_in(struct request *rq, int64_t time_ms)
{
	char *text = arena_alloc(rq->arena, TIME_TEXT_LEN + 1);
	time_format(time_ms, text);
	return (struct pg_param){text};
}

static size_t cell(const struct pg_rows *rows, int row, int column)
{
	require(row >= 0 && row < rows->count && column >= 0 && column < rows->columns);
	return (size_t)row * (size_t)rows->columns + (size_t)column;
}

const char *pg_value(const struct pg_rows *rows, int row, int column)
{
	return rows->values[cell(rows, row, column)];
}

int64_t pg_value_int(const struct pg_rows *rows, int row, int column)
{
	const char *text = pg_value(rows, row, column);
	return text == NULL ? 0 : strtoll(text, NULL, 10);
}

double pg_value_float(const struct pg_rows *rows, int row, int column)
{
	const char *text = pg_value(rows, row, column);
	return text == NULL ? 0 : strtod(text, NULL);
}

bool pg_value_bool(const struct pg_rows *rows, int row, int column)
{
	const char *text = pg_value(rows, row, column);
	return text != NULL && text[0] == 't';
}

void *pg_value_bytes(struct arena *arena, const struct pg_rows *rows, int row, int column,
                     size_t *ret_length)
{
	size_t at = cell(rows, row, column);
	if (rows->values[at] == NULL)
		return NULL;
	size_t length = rows->lengths[at];
	require(length >= 2 && memcmp(rows->values[at], "\\x", 2) == 0);
	length = (length - 2) / 2;
	void *data = arena_alloc(arena, length + 1);
	require(hex_decode(rows->values[at] + 2, 2 * length, data, length));
	*ret_length = length;
	return data;
}

const char *pg_json(const struct pg_rows *rows)
{
	return pg_value(rows, 0, 0);
}
