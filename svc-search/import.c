#include "import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "asset.sql.h"
#include "pg.h"
#include "timefmt.h"
#include "worker_run.h"

#define BATCH_PAPERS   500
#define LINE_MAX_BYTES (1024 * 1024)
#define PROGRESS_MS    200
#define BAR_WIDTH      30

/* --- Batches ------------------------------------------------------------------------------------------------- */

static void batch_open(struct import *import)
{
	import->arena = arena_new();
	import->doc = json_doc_new(import->arena);
	import->rows = yyjson_mut_arr(import->doc);
}

static void batch_drop(void *ptr)
{
	struct import *import = ptr;
	arena_free(import->arena);
}

struct import *import_new(struct request *rq)
{
	struct import *import = arena_new_of(rq->arena, struct import);
	import->rq = rq;
	batch_open(import);
	arena_on_free(rq->arena, batch_drop, import);
	return import;
}

void import_flush(struct import *import)
{
	struct request *rq = import->rq;
	struct arena *whole = rq->arena;
	if (yyjson_mut_arr_size(import->rows) == 0)
		return;
	rq->arena = import->arena;
	struct pg_rows *rows = NULL;
	enum err_code code = pg_try(rq, &rows, NULL, ASSET_IMPORT_SQL,
	                            pg_text(json_write_mut(import->arena, import->rows, NULL)));
	if (!code)
		import->written += (size_t)pg_value_int(rows, 0, 0);
	rq->arena = whole;
	arena_free(import->arena);
	batch_open(import);
	if (code)
		raise_error(rq, code, "the papers could not be stored: %s", err_info(code)->title);
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
	if (yyjson_mut_arr_size(import->rows) >= BATCH_PAPERS)
		import_flush(import);
	return true;
}

/* --- The file ------------------------------------------------------------------------------------------------ */

struct source {
	const char *path;
	gzFile file; /* plain files are read as they are */
	off_t size;
	char *line;
	size_t number; /* of the line, from 1 */
	uint64_t shown_at_ms;
	bool is_terminal;
};

static void source_close(void *ptr)
{
	struct source *source = ptr;
	if (source->file)
		gzclose(source->file);
	free(source->line);
}

static void source_open(struct request *rq, struct source *source)
{
	struct stat status;
	arena_on_free(rq->arena, source_close, source);
	source->line = malloc(LINE_MAX_BYTES);
	require(source->line);
	source->file = gzopen(source->path, "rb");
	if (!source->file || stat(source->path, &status) != 0)
		raise_error(rq, ERR_NOT_FOUND, "%s: %s", source->path, strerror(errno));
	gzbuffer(source->file, 256 * 1024);
	source->size = status.st_size;
	source->is_terminal = isatty(STDERR_FILENO);
}

/* The next line without its end. Returns false at the end of the file; `ret_is_whole` is false for one that is too long. */
static bool source_next(struct request *rq, struct source *source, size_t *ret_length,
                        bool *ret_is_whole)
{
	int error;
	*ret_is_whole = true;
	if (!gzgets(source->file, source->line, LINE_MAX_BYTES)) {
		const char *why = gzerror(source->file, &error);
		if (error != Z_OK && error != Z_STREAM_END)
			raise_error(rq, ERR_INVALID, "%s: line %zu: %s", source->path,
			            source->number + 1, why);
		return false;
	}
	source->number++;
	size_t length = strlen(source->line);
	while (length == LINE_MAX_BYTES - 1 && source->line[length - 1] != '\n') {
		*ret_is_whole = false;
		if (!gzgets(source->file, source->line, LINE_MAX_BYTES))
			break;
		length = strlen(source->line);
	}
	while (length && (source->line[length - 1] == '\n' || source->line[length - 1] == '\r'))
		length--;
	*ret_length = length;
	return true;
}

static void show_progress(struct source *source, const struct import *import, bool is_over)
{
	uint64_t now_ms = time_monotonic_ms();
	if (!source->is_terminal || (!is_over && now_ms - source->shown_at_ms < PROGRESS_MS))
		return;
	source->shown_at_ms = now_ms;
	double part = source->size ? (double)gzoffset(source->file) / (double)source->size : 1;
	int filled = (int)((is_over ? 1 : part) * BAR_WIDTH);
	fprintf(stderr, "\r[%.*s%*s] %3.0f%%  %zu papers%s", filled,
	        "##############################", BAR_WIDTH - filled, "",
	        is_over ? 100 : part * 100, import->seen, is_over ? "\n" : "");
}

static void skip_line(struct source *source, const char *why)
{
	fprintf(stderr, "%s%s:%zu: skipped: %s\n", source->is_terminal ? "\r\x1b[K" : "",
	        source->path, source->number, why);
}

static void import_line(struct import *import, struct source *source, size_t length, bool is_whole)
{
	const char *why = "it is too long";
	yyjson_val *line;
	struct metadata paper;
	enum err_code code = is_whole ? ERR_NONE : ERR_TOO_LARGE;
	if (!code)
		code = json_parse(import->arena, source->line, length, &line, &why);
	if (!code)
		code = metadata_read(import->arena, line, &paper, &why);
	if (code) {
		import->skipped++;
		skip_line(source, why);
	} else if (!import_add(import, &paper, &why)) {
		skip_line(source, why);
	}
}

static void import_main(struct request *rq)
{
	struct source *source = rq->user;
	struct import *import = import_new(rq);
	size_t length;
	bool is_whole;
	source_open(rq, source);
	while (source_next(rq, source, &length, &is_whole)) {
		if (length)
			import_line(import, source, length, is_whole);
		show_progress(source, import, false);
	}
	import_flush(import);
	show_progress(source, import, true);
	printf("%zu papers read, %zu new or changed, %zu lines skipped\n", import->seen,
	       import->written, import->skipped);
}

int import_command(struct process *process, int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: svc-search import FILE\n");
		return 2;
	}
	struct source source = {.path = argv[1]};
	return worker_command(process, import_main, &source);
}
