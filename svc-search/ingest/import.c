#include "ingest/import.h"

#include "base/terminal.h"
#include "base/timefmt.h"
#include "import.sql.h"
#include "ingest/line_reader.h"
#include "loop/wait.h"
#include "main/command_run.h"
#include "observe/log.h"
#include "pg/pg.h"
#include "plain/plain_text.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define BATCH_PAPERS 1000
#define BATCH_BYTES  ((size_t)32 * 1024 * 1024) /* memory of a batch: its lines and rows */
#define PROGRESS_MS  200
#define BAR_WIDTH    30
#define SKIPS_SHOWN  20 /* later ones are only counted */
#define SKIPS_NAMED  5  /* in the last line */

/* --- Batches ---------------------------------------------------------------------------------- */

static void batch_open(struct import_batch *batch)
{
	batch->arena = arena_new();
	batch->doc = json_doc_new(batch->arena);
	batch->rows = yyjson_mut_arr(batch->doc);
}

static void batch_reset(struct import_batch *batch)
{
	arena_free(batch->arena);
	batch_open(batch);
}

static void batches_free(void *ptr)
{
	struct import *import = ptr;
	for (size_t i = 0; i < ARRAY_LEN(import->batches); i++)
		arena_free(import->batches[i].arena);
}

struct import *import_new(struct request *rq, const char *source)
{
	struct import *import = arena_new_of(rq->arena, struct import);
	import->rq = rq;
	import->source = source;
	import->skips.arena = rq->arena;
	for (size_t i = 0; i < ARRAY_LEN(import->batches); i++)
		batch_open(&import->batches[i]);
	import->filling = &import->batches[0];
	arena_on_free(rq->arena, batches_free, import);
	return import;
}

/* The batch that is not filled. */
static struct import_batch *full_batch(struct import *import)
{
	return &import->batches[import->filling == &import->batches[0]];
}

/* Store the batch in one transaction and empty it. */
static void store(struct request *rq, struct import *import, struct import_batch *batch)
{
	struct pg_rows *rows = NULL;
	if (yyjson_mut_arr_size(batch->rows) == 0)
		return;
	enum err_code code = pg_try(rq, &rows, NULL, ASSET_IMPORT_SQL,
	                            pg_text(json_write_mut(batch->arena, batch->rows, NULL)),
	                            pg_int(PLAIN_TEXT_VERSION), pg_text(import->source));
	if (code)
		raise_error(rq, code,
		            "cannot store papers in the database: %s. Earlier papers are stored. "
		            "Check that DATABASE_URL is reachable, then run the command again",
		            err_info(code)->title);
	size_t given = yyjson_mut_arr_size(batch->rows);
	size_t added = (size_t)pg_get_int(rows, 0, "added"),
	       updated = (size_t)pg_get_int(rows, 0, "updated"),
	       older = (size_t)pg_get_int(rows, 0, "older");
	import->added += added;
	import->updated += updated;
	import->older += older;
	import->newest_added_ms =
		MAX_OF(import->newest_added_ms, pg_get_int(rows, 0, "newest_added_ms"));
	import->unchanged += given - MIN_OF(added + updated + older, given);
	batch_reset(batch);
}

void import_flush(struct import *import)
{
	request_page_begin(import->rq);
	store(import->rq, import, import->filling);
	request_page_end(import->rq);
}

bool import_add(struct import *import, const struct metadata *paper, const char **ret_why)
{
	struct import_batch *batch = import->filling;
	yyjson_mut_val *row = metadata_row(batch->arena, batch->doc, paper, ret_why);
	if (!row)
		return false;
	import->seen++;
	yyjson_mut_arr_append(batch->rows, row);
	return true;
}

/* Whether the batch is to be stored. Its arena also holds the lines, those that were skipped,
 * too. */
static bool is_full(const struct import_batch *batch)
{
	return yyjson_mut_arr_size(batch->rows) >= BATCH_PAPERS ||
	       (yyjson_mut_arr_size(batch->rows) > 0 &&
	        arena_size_bytes(batch->arena) > BATCH_BYTES);
}

void import_skip(struct import *import, const char *where, const char *why)
{
	struct arena *arena = arena_new();
	import->skipped++;
	where = terminal_text(arena, where);
	if (import->skipped <= SKIPS_NAMED)
		buf_printf(&import->skips, "%s%s", import->skips.length ? ", " : "", where);
	if (import->logs_skips)
		log_warn("paper skipped", f_text("paper", where), f_text("reason", why));
	else if (import->skipped <= SKIPS_SHOWN)
		fprintf(stderr, "%s: skipped: %s\n", where, terminal_text(arena, why));
	arena_free(arena);
	if (!import->logs_skips && import->skipped == SKIPS_SHOWN + 1)
		fprintf(stderr, "further skips are not shown\n");
}

void import_print_outcome(const struct import *import)
{
	printf("%zu added, %zu updated, %zu unchanged, %zu older, %zu skipped%s%s%s\n",
	       import->added, import->updated, import->unchanged, import->older, import->skipped,
	       import->skips.length ? ": " : "", import->skips.length ? import->skips.data : "",
	       import->skipped > SKIPS_NAMED ? ", …" : "");
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
	if (source->is_terminal)
		fputs("\r\x1b[K", stderr);
	import_skip(import,
	            arena_printf(import->filling->arena, "%s:%zu", source->path,
	                         line_reader_number(source->reader)),
	            why);
}

static void read_line(struct import *import, struct source *source, const char *text, size_t length)
{
	struct arena *arena = import->filling->arena;
	const char *why = NULL;
	yyjson_val *line;
	struct metadata paper;
	if (json_parse(arena, text, length, &line, &why) ||
	    metadata_read(arena, line, &paper, &why) || !import_add(import, &paper, &why))
		skip_line(import, source, why);
	if (yyjson_mut_arr_size(import->filling->rows) == 0 &&
	    arena_size_bytes(arena) > BATCH_BYTES)
		batch_reset(import->filling);
}

/* Lines are read on a thread of the pool. */
struct reading {
	struct import *import;
	struct source *source;
	enum line_kind end; /* LINE_END or LINE_ERROR; LINE_TEXT: there can be more lines */
};

/* Read lines until the batch is full. */
static void read_batch(void *arg)
{
	struct reading *reading = arg;
	struct import *import = reading->import;
	while (!is_full(import->filling)) {
		const char *line;
		size_t length;
		enum line_kind kind = line_reader_next(reading->source->reader, &line, &length);
		if (kind == LINE_END || kind == LINE_ERROR) {
			reading->end = kind;
			return;
		}
		if (kind == LINE_TOO_LONG) {
			skip_line(import, reading->source, "it is longer than 1 MiB");
		} else if (length) {
			read_line(import, reading->source, line, length);
		}
		show_progress(reading->source, import, false);
	}
}

static void store_full_batch(struct request *rq)
{
	struct import *import = rq->user;
	store(rq, import, full_batch(import));
}

/* Import every line: each batch is read while the one before it is stored. Returns LINE_END or
 * LINE_ERROR. */
static enum line_kind import_lines(struct import *import, struct source *source)
{
	struct request *rq = import->rq;
	struct reading *reading = arena_new_of(rq->arena, struct reading);
	*reading = (struct reading){import, source, LINE_TEXT};
	while (reading->end == LINE_TEXT) {
		import->filling = full_batch(import);
		request_page_begin(rq);
		fiber_spawn(rq, store_full_batch, import);
		fiber_offload(rq, LANE_SHORT, read_batch, reading);
		fiber_join(rq);
		request_page_end(rq);
	}
	import_flush(import);
	return reading->end;
}

static void import_main(struct request *rq)
{
	struct source *source = rq->user;
	struct import *import = import_new(rq, "arxiv");
	source_open(rq, source);
	pg_query(rq, INDEX_SOURCE_GET_SQL); /* fail before anything is read */
	enum line_kind end = import_lines(import, source);
	show_progress(source, import, end == LINE_END);
	printf("%zu papers read: ", import->seen);
	import_print_outcome(import);
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
	if (argc != 2)
		return COMMAND_USAGE;
	struct source source = {.path = argv[1]};
	return command_run(process, import_main, &source);
}
