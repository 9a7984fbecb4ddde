#include "pool/background.h"

#include "background.sql.h"
#include "json/json.h"
#include "loop/wait.h"
#include "observe/log.h"
#include "paper/frequency.h"
#include "paper/paper.h"
#include "pg/pg.h"
#include "pool/asset_query.h"

#include <string.h>

/* Papers that models are fitted to. More of them changed no AUC on CiteULike by more than .001. */
#define BACKGROUND_PAPERS 500

/* Papers whose terms are counted, in batches of BACKGROUND_PAPERS: the first one is the
 * background. */
#define BATCHES 4

/* Counting terms on the thread pool. */
struct count_work {
	struct arena *arena;
	const char *batches[BATCHES];
	size_t batch_count;
	struct buf frequencies;
};

static void count_on_thread(void *arg)
{
	struct count_work *work = arg;
	struct word_splitter *splitter = word_splitter_new(work->arena);
	const struct bag **bags =
		arena_array(work->arena, (size_t)BATCHES * BACKGROUND_PAPERS, sizeof(*bags));
	size_t count = 0;
	for (size_t i = 0; i < work->batch_count; i++) {
		struct paper_list papers = papers_read(work->arena, work->batches[i], 0);
		const struct bag **more = papers_make_bags(work->arena, splitter, papers);
		for (size_t j = 0; j < papers.count; j++)
			bags[count++] = more[j];
	}
	work->frequencies.arena = work->arena;
	frequency_write(frequency_table_new(work->arena, bags, count), &work->frequencies);
}

/* Elements `from` to `from + BACKGROUND_PAPERS` of an array. */
static const char *batch_json(struct request *rq, yyjson_val *ids, size_t from)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *batch = yyjson_mut_arr(doc);
	size_t index, max;
	yyjson_val *id;
	yyjson_arr_foreach (ids, index, max, id)
		if (index >= from && index < from + BACKGROUND_PAPERS)
			yyjson_mut_arr_add_str(doc, batch, yyjson_get_str(id));
	return json_write_mut(rq->arena, batch, NULL);
}

static enum err_code draw(struct request *rq)
{
	const char *answer;
	const char *body = arena_printf(rq->arena, "{\"limit\": %d}", BATCHES * BACKGROUND_PAPERS);
	yyjson_val *root;
	enum err_code code = asset_query(rq, "/internal/assets/sample", body, &answer);
	if (code)
		return code;
	if (json_parse(rq->arena, answer, strlen(answer), &root, NULL))
		return ERR_UPSTREAM;
	yyjson_val *ids = json_get(root, "arxiv_ids");
	struct count_work *work = arena_new_of(rq->arena, struct count_work);
	for (size_t i = 0; i < BATCHES && i * BACKGROUND_PAPERS < yyjson_arr_size(ids); i++) {
		code = asset_lookup(rq, batch_json(rq, ids, i * BACKGROUND_PAPERS),
		                    &work->batches[i]);
		if (code)
			return code;
		work->batch_count++;
	}
	if (work->batch_count == 0)
		return ERR_NONE;
	work->arena = offload_arena(rq);
	fiber_offload(rq, LANE_LONG, count_on_thread, work);
	pg_query(rq, BACKGROUND_SAVE_SQL, pg_int(json_get_int(root, "documents", 0)),
	         pg_bytes(work->frequencies.data, work->frequencies.length),
	         pg_text(work->batches[0]), pg_text(batch_json(rq, ids, 0)));
	return ERR_NONE;
}

void background_follow(struct request *rq, int64_t documents)
{
	if (!pg_value_bool(pg_query(rq, BACKGROUND_IS_DUE_SQL, pg_int(documents)), 0))
		return;
	enum err_code code = draw(rq);
	if (code)
		log_warn("the background was not drawn", f_text("error", err_info(code)->slug));
}
