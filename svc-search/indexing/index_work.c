#include "indexing/index_work.h"

#include "index.sql.h"
#include "indexing/index_files.h"
#include "observe/log.h"
#include "pg/pg.h"

#include <malloc.h>
#include <string.h>

bool index_writer_has_garbage(struct index_writer *writer)
{
	if (uv_mutex_trylock(&writer->lock) != 0)
		return false;
	bool has_garbage = engine_is_collect_due(writer->engine);
	uv_mutex_unlock(&writer->lock);
	return has_garbage;
}

struct index_work *index_work_new(struct request *rq, struct index_writer *writer)
{
	struct index_work *work = arena_new_of(rq->arena, struct index_work);
	work->writer = writer;
	return work;
}

/* The parts of `text`, such as "cs.LG stat.ML", that `separator` separates, in the arena. */
static const char *const *split_at(struct arena *arena, const char *text, const char *separator,
                                   size_t *ret_count)
{
	char *rest = arena_strdup(arena, text);
	const char **words = arena_array(arena, strlen(text) / 2 + 1, sizeof(*words));
	size_t count = 0;
	for (char *word; (word = strsep(&rest, separator));)
		if (*word)
			words[count++] = word;
	*ret_count = count;
	return words;
}

/* Rows of an earlier version can have an id that is too long for the index. It takes the paper for
 * one that is deleted. */
static bool is_too_long(const char *id)
{
	if (strlen(id) <= DOCUMENT_MAX_ID)
		return false;
	log_warn("the id of a paper is too long for the index", f_text("arxiv_id", id));
	return true;
}

static struct engine_change change_of(struct request *rq, const struct pg_rows *rows, int row)
{
	struct engine_change change = {
		.document =
			{
				.seq = (uint64_t)pg_get_int(rows, row, "number"),
				.id = pg_get(rows, row, "arxiv_id"),
				.title = pg_get(rows, row, "title"),
				.abstract = pg_get(rows, row, "abstract"),
				.comments = pg_get(rows, row, "comments"),
				.published = (int32_t)pg_get_int(rows, row, "published"),
				.has_container = pg_get_bool(rows, row, "has_container"),
			},
	};
	struct document *document = &change.document;
	change.is_deleted = pg_get_bool(rows, row, "is_deleted") || is_too_long(document->id);
	document->categories = split_at(rq->arena, pg_get(rows, row, "categories"), " ",
	                                &document->category_count);
	document->authors =
		split_at(rq->arena, pg_get(rows, row, "authors"), "\n", &document->author_count);
	size_t dimension = 0;
	document->vector = pg_get_bytes(rq->arena, rows, row, "vector", &dimension);
	document->dimension = (uint32_t)dimension;
	return change;
}

struct index_work *index_work_read(struct request *rq, struct index_writer *writer,
                                   const char *space, const struct follower_page *page)
{
	struct pg_param after = pg_int((int64_t)page->after);
	struct pg_param limit = pg_int((int64_t)page->limit);
	struct pg_param until = pg_int((int64_t)page->until);
	struct pg_rows *rows =
		space ? pg_query(rq, VECTOR_CHANGES_SQL, after, limit, until, pg_text(space))
		      : pg_query(rq, ASSET_CHANGES_SQL, after, limit, until);
	struct index_work *work = index_work_new(rq, writer);
	work->count = (size_t)rows->count;
	work->changes = arena_array(rq->arena, work->count, sizeof(*work->changes));
	for (int row = 0; row < rows->count; row++)
		work->changes[row] = change_of(rq, rows, row);
	return work;
}

void index_work_apply(void *arg)
{
	struct index_work *work = arg;
	uv_mutex_lock(&work->writer->lock);
	engine_apply(work->writer->engine, work->changes, work->count, work->complete);
	uv_mutex_unlock(&work->writer->lock);
}

void index_work_collect(void *arg)
{
	struct index_work *work = arg;
	uv_mutex_lock(&work->writer->lock);
	engine_collect(work->writer->engine);
	uv_mutex_unlock(&work->writer->lock);
}

void index_work_restore(void *arg)
{
	struct index_work *work = arg;
	index_files_tidy(work->path);
	uv_mutex_lock(&work->writer->lock);
	work->is_done = engine_restore(work->writer->engine, work->path);
	work->has_run = true;
	uv_mutex_unlock(&work->writer->lock);
}

void index_work_adopt(void *arg)
{
	struct index_work *work = arg;
	struct index_writer *writer = work->writer;
	uv_mutex_lock(&writer->lock);
	struct engine_adoption *adoption = engine_adoption_new(writer->engine, work->embedder);
	work->embedder = NULL;
	uv_mutex_unlock(&writer->lock);
	work->is_done = engine_adoption_run(adoption, writer->cancel);
	uv_mutex_lock(&writer->lock);
	if (work->is_done)
		engine_adoption_commit(writer->engine, adoption);
	else
		engine_adoption_cancel(writer->engine, adoption);
	uv_mutex_unlock(&writer->lock);
}

void index_work_merge(void *arg)
{
	struct index_work *work = arg;
	struct index_writer *writer = work->writer;
	uv_mutex_lock(&writer->lock);
	struct engine_merge *merge = engine_merge_new(writer->engine, ENGINE_MERGE_DUE);
	uv_mutex_unlock(&writer->lock);
	if (!merge)
		return;
	engine_merge_set_cancel_flag(merge, writer->cancel);
	work->is_done = engine_merge_run(merge);
	work->has_file_failed = engine_merge_has_file_failed(merge);
	uv_mutex_lock(&writer->lock);
	if (work->is_done)
		engine_merge_commit(writer->engine, merge);
	else
		engine_merge_cancel(writer->engine, merge);
	uv_mutex_unlock(&writer->lock);
	malloc_trim(0); /* a merge needs several times the memory of the finished index */
}

void index_work_save(void *arg)
{
	struct index_work *work = arg;
	struct engine_view *view = engine_view_get(work->writer->engine);
	work->is_done = engine_save(view, work->path);
	engine_view_put(view);
}
