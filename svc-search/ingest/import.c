#include "ingest/import.h"

#include "base/timefmt.h"
#include "import.sql.h"
#include "ingest/line_reader.h"
#include "pg/pg.h"
#include "service/process.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define BATCH_PAPERS 500
#define BATCH_BYTES  ((size_t)32 * 1024 * 1024) /* memory of a batch: its lines and rows */
#define PROGRESS_MS  200
#define BAR_WIDTH    30
#define SKIPS_SHOWN  20 /* later ones are only counted */

/* --- Batches ---------------------------------------------------------------------------------- */

static void batch_open(struct import *import)
{
	import->arena = arena_new();
	import->doc = json_doc_new(import->arena);
	import->rows = yyjson_mut_arr(import->doc);
}

static void batch_free(void *ptr)
{
	struct import *import = ptr;
	arena_free(import->arena);
}

struct import *import_new(struct request *rq)
{
	struct import *import = arena_new_of(rq->arena, struct import);
	import->rq = rq;
	batch_open(import);
	arena_on_free(rq->arena, batch_free, import);
	return import;
}

static void batch_next(struct import *import)
{
	arena_free(import->arena);
	batch_open(import);
}

void import_flush(struct import *import)
{
	struct request *rq = import->rq;
	struct pg_rows *rows = NULL;
	if (yyjson_mut_arr_size(import->rows) == 0)
		return;
	request_page_begin(rq);
	enum err_code code = pg_try(rq, &rows, NULL, ASSET_IMPORT_SQL,
	                            pg_text(json_write_mut(import->arena, import->rows, NULL)));
	if (!code)
		import->written += (size_t)pg_value_int(rows, 0, 0);
	request_page_end(rq);
	batch_next(import);
	if (code)
		raise_error(rq, code,
		            "cannot store papers in the database: %s. Earlier papers are stored. "
		            "Check that DATABASE_URL is reachable, then run the command again",
		            err_info(code)->title);
}

bool import_add(struct import *import, const struct metadata *paper, const char **ret_why)
{
	yyjson_mut_val *row = metadata_row(import->arena, import->doc, paper, ret_why);
	if (!row) {
		import->skipped++;
		return false;
	}
	import->seen++;
	yyjson_mut_arr_append(import->rows, row);
	return true;
}

/* Write the batch if it is full. Frees its arena, which also holds the lines of the batch. */
static void flush_full(struct import *import)
{
	bool is_large = arena_size_bytes(import->arena) > BATCH_BYTES;
	if (yyjson_mut_arr_size(import->rows) >= BATCH_PAPERS || is_large)
		import_flush(import);
	if (yyjson_mut_arr_size(import->rows) == 0 && is_large)
		batch_next(import);
}

void import_report_skip(const struct import *import, const char *where, const char *why)
{
	if (import->skipped <= SKIPS_SHOWN)
		fprintf(stderr, "%s: skipped: %s\n", where, why);
	if (import->skipped == SKIPS_SHOWN + 1)
		fprintf(stderr, "further skips are not shown\n");
}

/* --- The file --------------------------------------------------------------------------------- */

struct source {
	const char *path;
	struct line_reader *reader;
	uint64_t shown_at_ms;
	bool is_terminal;
};

static void source_close(void *ptr)
{
	struct source *source = ptr;
	line_reader_close(source->reader);
}

static void source_open(struct request *rq, struct source *source)
{
	char why[128];
	source->reader = line_reader_open(source->path);
	if (!source->reader)
		raise_error(rq, ERR_NOT_FOUND, "%s: %s", source->path,
		            strerror_r(errno, why, sizeof(why)));
	arena_on_free(rq->arena, source_close, source);
	source->is_terminal = isatty(STDERR_FILENO);
}

static void show_progress(struct source *source, const struct import *import, bool is_over)
{
	static const char FULL[] = "##############################";
	uint64_t now_ms = time_monotonic_ms();
	if (!source->is_terminal || (!is_over && now_ms - source->shown_at_ms < PROGRESS_MS))
		return;
	source->shown_at_ms = now_ms;
	double part = is_over ? 1 : line_reader_progress(source->reader);
	int filled = (int)(part * BAR_WIDTH);
	fprintf(stderr, "\r[%.*s%*s] %3.0f%%  %zu papers%s", filled, FULL, BAR_WIDTH - filled, "",
	        part * 100, import->seen, is_over ? "\n" : "");
}

static void skip_line(struct import *import, struct source *source, const char *why)
{
	const char *where =
		arena_printf(import->arena, "%s%s:%zu", source->is_terminal ? "\r\x1b[K" : "",
	                     source->path, line_reader_number(source->reader));
	import_report_skip(import, where, why);
}

static void import_line(struct import *import, struct source *source, const char *text,
                        size_t length)
{
	const char *why = NULL;
	yyjson_val *line;
	struct metadata paper;
	if (json_parse(import->arena, text, length, &line, &why) ||
	    metadata_read(import->arena, line, &paper, &why)) {
		import->skipped++;
		skip_line(import, source, why);
	} else if (!import_add(import, &paper, &why)) {
		skip_line(import, source, why);
	}
	flush_full(import);
}

/* Import every line. Returns LINE_END or LINE_ERROR. */
static enum line_kind import_lines(struct import *import, struct source *source)
{
	for (;;) {
		const char *line;
		size_t length;
		enum line_kind kind = line_reader_next(source->reader, &line, &length);
		if (kind == LINE_END || kind == LINE_ERROR)
			return kind;
		if (kind == LINE_TOO_LONG) {
			import->skipped++;
			skip_line(import, source, "it is longer than 1 MiB");
		} else if (length) {
			import_line(import, source, line, length);
		}
		show_progress(source, import, false);
	}
}

static void import_main(struct request *rq)
{
	struct source *source = rq->user;
	struct import *import = import_new(rq);
	source_open(rq, source);
	pg_query(rq, INDEX_SOURCE_GET_SQL); /* connect now: reading blocks the loop */
	enum line_kind end = import_lines(import, source);
	import_flush(import);
	show_progress(source, import, end == LINE_END);
	printf("%zu papers read, %zu new or changed, %zu lines skipped\n", import->seen,
	       import->written, import->skipped);
	if (end == LINE_ERROR)
		raise_error(rq, ERR_INVALID, "%s: line %zu: %s", source->path,
		            line_reader_number(source->reader), line_reader_error(source->reader));
	if (import->skipped && !import->seen)
		raise_error(rq, ERR_INVALID,
		            "%s: no line is a paper; JSON lines of arXiv's metadata are expected",
		            source->path);
}

int import_command(struct process *process, int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: svc-search import FILE\n");
		return 2;
	}
	struct source source = {.path = argv[1]};
	return command_run(process, import_main, &source);
}
