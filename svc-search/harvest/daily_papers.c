#include "harvest/daily_papers.h"

#include "base/timefmt.h"
#include "client/fetch.h"
#include "daily_papers.sql.h"
#include "ingest/paper_id.h"
#include "json/json.h"
#include "loop/periodic.h"
#include "observe/log.h"
#include "pg/lease.h"
#include "pg/pg.h"
#include "product/repository_url.h"
#include "service/process.h"

#include <stdlib.h>
#include <string.h>

#define DAY_MS  INT64_C(86400000)
#define HOUR_MS INT64_C(3600000)

/* Days that a run asks for, with today (UTC). */
#define DAYS 4

/* How often the table is looked at. */
#define POLL_MS 60000

#define ANSWER_MAX_BYTES  ((size_t)4 << 20)
#define ANSWER_TIMEOUT_MS 30000
#define PASS_TIMEOUT_MS   (DAYS * ANSWER_TIMEOUT_MS + 30000)
#define PAPERS_MAX        1000 /* of an answer; a day has about 50 */
#define UPVOTES_MAX       1000000000

static const char *url;

const struct setting DAILY_PAPERS_SETTINGS[] = {
	SETTING_TEXT(&url, "DAILY_PAPERS_URL", "",
                     "Where Hugging Face's daily papers are asked for once a day, such as "
                     "`https://huggingface.co/api/daily_papers`; empty: nowhere."),
	SETTING_END,
};

struct daily_papers {
	struct periodic *periodic;
	struct lease lease;
};

/* --- Reading an answer ------------------------------------------------------------------------ */

/* `https://github.com/owner/name` of an address; NULL: it is of no repository there. */
static const char *repository_of(struct arena *arena, const char *text)
{
	static const char GITHUB[] = "https://github.com";
	const char *rest;
	const char *name = text ? repository_url_read(arena, GITHUB, text, &rest) : NULL;
	return name ? arena_printf(arena, "%s/%s", GITHUB, name) : NULL;
}

/* Add what an item, {"paper": {"id", "githubRepo", "upvotes", …}, …}, says of its paper. */
static void add_paper(struct arena *arena, yyjson_mut_doc *doc, yyjson_mut_val *list,
                      yyjson_val *item)
{
	char id[PAPER_ID_MAX + 1];
	yyjson_val *paper = json_get(item, "paper");
	const char *given = json_get_text(paper, "id");
	const char *repository = repository_of(arena, json_get_text(paper, "githubRepo"));
	int64_t upvotes = json_get_int(paper, "upvotes", -1);
	if (!given || !paper_id_parse(given, id))
		return;
	yyjson_mut_val *row = yyjson_mut_arr_add_obj(doc, list);
	yyjson_mut_obj_add_strcpy(doc, row, "arxiv_id", id);
	if (repository)
		yyjson_mut_obj_add_str(doc, row, "github_url", repository);
	if (upvotes >= 0 && upvotes <= UPVOTES_MAX)
		yyjson_mut_obj_add_int(doc, row, "upvotes", upvotes);
}

/* The rows for DAILY_PAPERS_STORE_SQL; NULL: the answer is not an array of papers. */
static const char *read_answer(struct arena *arena, const struct fetch_response *answer)
{
	yyjson_val *root = NULL, *item;
	size_t index, count;
	if (fetch_json_outside(arena, answer, &root) || !yyjson_is_arr(root) ||
	    yyjson_arr_size(root) > PAPERS_MAX)
		return NULL;
	yyjson_mut_doc *doc = json_doc_new(arena);
	yyjson_mut_val *list = yyjson_mut_arr(doc);
	yyjson_arr_foreach (root, index, count, item)
		add_paper(arena, doc, list, item);
	return json_write_mut(arena, list, NULL);
}

/* --- A run ------------------------------------------------------------------------------------ */

/* What a run has come to. */
struct run {
	int64_t changed; /* papers */
	const char *why; /* it has failed; NULL: it has not */
	uint64_t retry_after_ms;
};

static void ask_day(struct request *rq, struct run *run, int days_ago)
{
	char day[DATE_TEXT_LEN + 1];
	struct fetch_response *answer = NULL;
	date_format(time_now_ms() - days_ago * DAY_MS, day);
	const struct fetch_call call = {
		.url = arena_printf(rq->arena, "%s?date=%s&limit=100", url, day),
		.response_max_bytes = ANSWER_MAX_BYTES,
		.timeout_ms = ANSWER_TIMEOUT_MS,
		.follow_redirects = true,
		.guard = FETCH_GUARD_REDIRECTS,
	};
	enum err_code code = fetch_try(rq, &call, &answer);
	if (code) {
		run->why = err_info(code)->title;
		return;
	}
	run->retry_after_ms = fetch_retry_after_ms(answer);
	const char *rows = answer->status == 200 ? read_answer(rq->arena, answer) : NULL;
	if (!rows)
		run->why = answer->status == 200 ? "the answer is not an array of papers"
		                                 : http_reason(answer->status);
	else
		run->changed +=
			pg_value_int(pg_query(rq, DAILY_PAPERS_STORE_SQL, pg_text(rows)), 0);
}

/* Runs under the lease. */
static void run_days(struct request *rq)
{
	struct run run = {0};
	for (int days_ago = 0; days_ago < DAYS && !run.why; days_ago++)
		ask_day(rq, &run, days_ago);
	int64_t wait_ms = run.why ? MAX_OF((int64_t)run.retry_after_ms, HOUR_MS) : DAY_MS;
	pg_query(rq, DAILY_PAPERS_WAIT_SQL, pg_int(wait_ms));
	if (run.why)
		log_warn("cannot read the daily papers", f_text("reason", run.why),
		         f_int("pause_ms", wait_ms));
	else
		log_info("daily papers read", f_int("changed", run.changed));
}

static void pass(struct request *rq)
{
	struct daily_papers *daily = periodic_user(rq);
	const struct process *process = rq->worker->process;
	if (process->is_migrated && !process->is_draining &&
	    pg_value_bool(pg_query(rq, DAILY_PAPERS_IS_DUE_SQL), 0) &&
	    lease_take(rq, &daily->lease, process->instance))
		lease_run(rq, &daily->lease, process->instance, run_days, NULL);
	periodic_wake_in(daily->periodic, process->is_migrated ? POLL_MS : 1000);
}

struct daily_papers *daily_papers_start(struct worker *worker)
{
	if (!url[0])
		return NULL;
	struct daily_papers *daily = calloc(1, sizeof(*daily));
	require(daily);
	daily->lease.name = "daily_papers";
	daily->periodic = periodic_new(worker, "daily-papers", pass, daily, PERIODIC_WHEN_WOKEN,
	                               PASS_TIMEOUT_MS);
	periodic_wake(daily->periodic);
	return daily;
}

void daily_papers_stop(struct daily_papers *daily)
{
	if (!daily)
		return;
	periodic_stop(daily->periodic);
	periodic_free(daily->periodic);
	free(daily);
}
