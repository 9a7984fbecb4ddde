#include "run/run.h"

#include "input/input.h"
#include "input/key_limit.h"
#include "pg/pg.h"
#include "reply/media_type.h"
#include "reply/reply.h"
#include "reply/resource.h"
#include "run.sql.h"
#include "run/run_csv.h"

#include <string.h>

struct list_input {
	struct run_filter filter;
	const char *include;
	int64_t limit, offset;
};

static const char *const OUTCOMES[] = {"pull_request", "issue",   "branch", "skipped",
                                       "failed",       "running", "other",  NULL};
static const char *const INCLUDES[] = {"selection", NULL};

static const struct field LIST_FIELDS[] = {
	QUERY_TEXT(struct list_input, filter.repo, "repo", OPTIONAL, 1, 200),
	QUERY_TEXT(struct list_input, filter.repos, "repos", REPEATED, 1, 20000),
	QUERY_TEXT(struct list_input, filter.run, "run_id", OPTIONAL, 1, RUN_ID_MAX),
	QUERY_ENUM(struct list_input, filter.outcome, "outcome_kind", OUTCOMES),
	QUERY_TEXT(struct list_input, filter.agent, "agent", OPTIONAL, 1, 100),
	QUERY_INTEREST(struct list_input, filter.interest),
	QUERY_TEXT(struct list_input, filter.paper, "arxiv_id", OPTIONAL, 1, 100),
	QUERY_DATE(struct list_input, filter.since, "since"),
	QUERY_DATE(struct list_input, filter.until, "until"),
	QUERY_DATE(struct list_input, filter.merged_since, "merged_since"),
	QUERY_DATE(struct list_input, filter.merged_until, "merged_until"),
	QUERY_ENUM(struct list_input, include, "include", INCLUDES),
	QUERY_LIMIT(struct list_input, limit, 20, 100),
	QUERY_OFFSET(struct list_input, offset),
	FIELD_END,
};

struct delete_input {
	const char *run_id, *repo;
	const char *named; /* in place of run_id: one that a path cannot hold, such as `..` */
};

static const struct field DELETE_FIELDS[] = {
	PATH_TEXT(struct delete_input, run_id, "run_id", 1, RUN_ID_MAX),
	QUERY_REPO(struct delete_input, repo),
	QUERY_TEXT(struct delete_input, named, "run_id", OPTIONAL, 1, RUN_ID_MAX),
	FIELD_END,
};

#define GUARDS_BATCH 1000 /* run_guards_forget in run.sql */

const int64_t RUN_PARTITIONS_EVERY_MS = (int64_t)24 * 3600 * 1000;
const int64_t RUN_GUARDS_EVERY_MS = (int64_t)3600 * 1000;

/* Add a fault when the day of `since` is after that of `until`. */
static void check_order(struct request *rq, const char *since_name, const char *since,
                        const char *until_name, const char *until)
{
	if (since && until && strcmp(since, until) > 0)
		problem_add_field(rq->arena, &rq->problem, since_name, "must not be after %s",
		                  until_name);
}

static void reply_list(struct request *rq, const struct list_input *in)
{
	const struct run_filter *f = &in->filter;
	struct pg_rows *rows =
		pg_query(rq, RUN_LIST_SQL, pg_uuid(rq->caller.account), pg_text(f->repo),
	                 pg_text(f->outcome), pg_text(f->agent), pg_text(f->interest),
	                 pg_text(f->paper), pg_text(f->since), pg_text(f->until),
	                 pg_text(f->merged_since), pg_text(f->merged_until), pg_bool(in->include),
	                 pg_int(in->limit), pg_int(in->offset), pg_text(f->repos), pg_text(f->run));
	reply_page(rq, rows, in->limit, in->offset);
}

void run_list(struct request *rq)
{
	struct list_input *in = request_input(rq, struct list_input, LIST_FIELDS);
	struct run_filter *f = &in->filter;
	check_order(rq, "since", f->since, "until", f->until);
	check_order(rq, "merged_since", f->merged_since, "merged_until", f->merged_until);
	raise_if_faults(rq);
	require_repo(rq, f->repo);
	if (!f->repo)
		f->repo = rq->caller.repo;
	if (reply_choose(rq, JSON_OR_CSV) == 0)
		reply_list(rq, in);
	else
		run_csv_reply(rq, f);
}

void run_delete(struct request *rq)
{
	struct delete_input *in = request_input(rq, struct delete_input, DELETE_FIELDS);
	require_repo(rq, in->repo);
	reply_one(rq, 200,
	          pg_query(rq, RUN_REMOVE_SQL, pg_uuid(rq->caller.account), pg_text(in->repo),
	                   pg_text(in->named ? in->named : in->run_id)),
	          "no such run");
}

void run_partitions_make(struct request *rq)
{
	pg_query(rq, RUN_PARTITIONS_MAKE_SQL);
}

void run_told_months_keep(struct request *rq)
{
	pg_query(rq, RUN_TOLD_MONTHS_KEEP_SQL);
}

void run_guards_forget(struct request *rq)
{
	while (pg_value_int(pg_query(rq, RUN_GUARDS_FORGET_SQL), 0) == GUARDS_BATCH)
		;
}
