#include "indexing/index_work.h"

#include "indexing/index_files.h"

#include <malloc.h>

void index_work_apply(void *arg)
{
	struct index_work *work = arg;
	uv_mutex_lock(&work->writer->lock);
	engine_apply(work->writer->engine, work->changes, work->count);
	uv_mutex_unlock(&work->writer->lock);
}

void index_work_add(void *arg)
{
	struct index_work *work = arg;
	for (size_t i = 0; i < work->count; i++)
		if (!work->changes[i].is_deleted)
			engine_merge_add(work->merge, &work->changes[i].document);
}

void index_work_restore(void *arg)
{
	struct index_work *work = arg;
	index_files_tidy(work->path);
	uv_mutex_lock(&work->writer->lock);
	work->is_done = engine_restore(work->writer->engine, work->path);
	uv_mutex_unlock(&work->writer->lock);
}

void index_work_merge(void *arg)
{
	struct index_work *work = arg;
	struct index_writer *writer = work->writer;
	if (!work->merge) {
		uv_mutex_lock(&writer->lock);
		work->merge = engine_merge_new(writer->engine);
		uv_mutex_unlock(&writer->lock);
	}
	engine_merge_heed(work->merge, writer->stop);
	work->is_done = engine_merge_run(work->merge);
	uv_mutex_lock(&writer->lock);
	if (work->is_done)
		engine_merge_commit(writer->engine, work->merge);
	else
		engine_merge_cancel(writer->engine, work->merge);
	uv_mutex_unlock(&writer->lock);
	malloc_trim(0); /* building takes several times what the index itself does */
}

void index_work_save(void *arg)
{
	struct index_work *work = arg;
	struct engine_view *view = engine_view_get(work->writer->engine);
	work->is_done = engine_save(view, work->path);
	engine_view_put(view);
}
