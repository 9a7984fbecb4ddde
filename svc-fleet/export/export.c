#include "export/export.h"

#include "base/base.h"
#include "base/timefmt.h"
#include "export.sql.h"
#include "export/store.h"
#include "http/gzip.h"
#include "loop/wait.h"
#include "main/arguments.h"
#include "main/command_run.h"
#include "pg/lease.h"
#include "pg/pg.h"
#include "service/process.h"

#include <uv.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PAGE_RUNS 50 /* of which some may have a MiB */
#define FIRST_ID  "00000000-0000-0000-0000-000000000000"

bool export_is_required;
const char *s3_url, *s3_region, *s3_key_id, *s3_secret;

const struct setting EXPORT_SETTINGS[] = {
	SETTING_BOOL(&export_is_required, "EXPORT_REQUIRED", "false",
                     "Runs and their details are deleted only once svc-fleet export has stored "
                     "them."),
	SETTING_TEXT(&s3_url, "EXPORT_S3_URL", "",
                     "Address of the S3-compatible store, such as "
                     "https://s3.eu-central-1.amazonaws.com; the bucket is the first part of the "
                     "path."),
	SETTING_TEXT(&s3_region, "EXPORT_S3_REGION", "us-east-1", "Its region."),
	SETTING_TEXT(&s3_key_id, "EXPORT_S3_KEY_ID", "", "The id of an access key of it."),
	SETTING_SECRET(&s3_secret, "EXPORT_S3_SECRET", "", "The secret of this access key."),
	SETTING_END,
};

enum err_code export_settings_check(void)
{
	size_t length = strlen(s3_url);
	bool has_scheme = strncmp(s3_url, "https://", 8) == 0 || strncmp(s3_url, "http://", 7) == 0;
	if (length == 0 || (has_scheme && s3_url[length - 1] != '/' && !strpbrk(s3_url, "?#@ ")))
		return ERR_NONE;
	fprintf(stderr, "EXPORT_S3_URL: must be https://HOST or http://HOST, without a slash at "
	                "its end\n");
	return ERR_INVALID;
}

struct export
{
	const char *before, *target; /* the arguments */
	const struct store *store;
	struct lease lease;
	const char *day;
	char name[64]; /* of the file */
	int64_t part, runs, bytes;
	int64_t files, all_runs;
};

static attr_noreturn void raise_write(struct request *rq, const struct export *export)
{
	raise_error(rq, ERR_INVALID, "%s: %s", export->name,
	            uv_strerror(uv_translate_sys_error(errno)));
}

static void compress(struct request *rq, struct export *export, struct gzip *gzip, FILE *file,
                     const char *text, bool is_last)
{
	size_t length;
	const char *out = gzip_add(gzip, text, strlen(text), is_last, &length);
	if (length && fwrite(out, 1, length, file) != length)
		raise_write(rq, export);
	export->bytes += (int64_t)length;
}

/* The next page of runs; false: there is none. */
static bool write_page(struct request *rq, struct export *export, struct gzip *gzip, FILE *file,
                       char after[sizeof(FIRST_ID)])
{
	request_page_begin(rq);
	struct pg_rows *rows = pg_query(rq, EXPORT_PAGE_SQL, pg_text(export->day), pg_text(after),
	                                pg_int(PAGE_RUNS));
	int count = rows->count;
	for (int row = 0; row < count; row++) {
		compress(rq, export, gzip, file, pg_get(rows, row, "line"), false);
		compress(rq, export, gzip, file, "\n", false);
	}
	if (count > 0)
		snprintf(after, sizeof(FIRST_ID), "%s", pg_get(rows, count - 1, "id"));
	export->runs += count;
	request_page_end(rq);
	return count == PAGE_RUNS;
}

static void give_up_file(struct request *rq, void *held)
{
	const struct store_file *file = held;
	(void)rq;
	if (file->path)
		unlink(file->path);
	fclose(file->file);
}

/* Another process has the lease. */
static void require_held(struct request *rq, const struct pg_rows *rows)
{
	if (pg_empty(rows))
		raise_error(rq, ERR_CONFLICT, "another process exports now");
}

/* Only of a file that the store does not have: one that is there and was begun counts as
 * written. */
static void begin(struct request *rq, const struct export *export)
{
	require_held(rq,
	             pg_query(rq, EXPORT_START_SQL, pg_text(export->day),
	                      pg_text(export->store->target), pg_int(export->part),
	                      pg_text(export->lease.name), pg_text(rq->worker->process->instance),
	                      pg_int(export->lease.fence)));
}

/* Once the file is begun, no process that had the lease before can keep its own. */
static void write_file(struct request *rq, struct export *export)
{
	const struct store_kind *kind = export->store->kind;
	char after[sizeof(FIRST_ID)] = FIRST_ID;
	export->runs = export->bytes = 0;
	struct store_file *file = kind->begin(rq, export->store, export->name);
	request_hold(rq, give_up_file, file);
	begin(rq, export);
	struct gzip *gzip = gzip_new(rq->arena, SIZE_MAX);
	while (write_page(rq, export, gzip, file->file, after))
		;
	compress(rq, export, gzip, file->file, "", true);
	kind->keep(rq, export->store, export->name, file);
	request_unhold(rq, give_up_file);
	fclose(file->file);
}

/* The file to write next. Returns whether the store has it; sets whether this database has begun
 * it. */
static bool choose_file(struct request *rq, struct export *export, bool *ret_was_begun)
{
	struct pg_rows *rows =
		pg_query(rq, EXPORT_NEXT_SQL, pg_text(export->day), pg_text(export->store->target));
	export->part = pg_get_int(rows, 0, "part");
	*ret_was_begun = pg_get_bool(rows, 0, "was_begun");
	snprintf(export->name, sizeof(export->name), "runs-%s.%lld.jsonl.gz", export->day,
	         (long long)export->part);
	return export->store->kind->has(rq, export->store, export->name);
}

static void finish(struct request *rq, const struct export *export, bool is_counted)
{
	require_held(rq,
	             pg_query(rq, EXPORT_FINISH_SQL, pg_text(export->day),
	                      pg_text(export->store->target), pg_int(export->part),
	                      is_counted ? pg_int(export->runs) : pg_null(),
	                      is_counted ? pg_int(export->bytes) : pg_null(),
	                      pg_text(export->lease.name), pg_text(rq->worker->process->instance),
	                      pg_int(export->lease.fence)));
}

/* Note a file that the store has, which was written by a process that ended before it could do so.
 * False: the day has changed since. */
static bool note(struct request *rq, struct export *export)
{
	finish(rq, export, false);
	printf("%s is there already\n", export->name);
	return !pg_value_bool(pg_query(rq, EXPORT_HAS_CHANGED_SQL, pg_text(export->day),
	                               pg_text(export->store->target)),
	                      0);
}

static void export_day(struct request *rq, struct export *export)
{
	bool was_begun;
	bool is_there = choose_file(rq, export, &was_begun);
	if (was_begun && is_there) {
		if (note(rq, export))
			return;
		is_there = choose_file(rq, export, &was_begun);
	}
	if (is_there)
		raise_error(rq, ERR_CONFLICT,
		            "%s: %s is there, and this database has not written it; choose "
		            "another folder or prefix",
		            export->store->target, export->name);
	write_file(rq, export);
	finish(rq, export, true);
	printf("%s: %lld runs, %lld bytes\n", export->name, (long long)export->runs,
	       (long long)export->bytes);
	fflush(stdout);
	export->files++;
	export->all_runs += export->runs;
}

/* In a transaction, which may take longer than a single statement. */
static struct pg_rows *days_of(struct request *rq, const struct export *export)
{
	pg_begin(rq);
	struct pg_rows *rows = pg_query(rq, EXPORT_DAYS_SQL, pg_text(export->before),
	                                pg_text(export->store->target));
	pg_commit(rq);
	return rows;
}

static void export_days(struct request *rq)
{
	struct export *export = rq->user;
	struct pg_rows *days = days_of(rq, export);
	for (int row = 0; row < days->count; row++) {
		export->day = pg_value(days, row);
		request_page_begin(rq);
		export_day(rq, export);
		request_page_end(rq);
	}
}

/* The lease of a process that was killed ends by itself. */
static void take_lease(struct request *rq, struct export *export, const char *owner)
{
	uint64_t until_ms = time_monotonic_ms() + 2 * lease_term_ms;
	while (!lease_take(rq, &export->lease, owner)) {
		if (time_monotonic_ms() > until_ms)
			raise_error(rq, ERR_CONFLICT, "the process %s exports already",
			            lease_owner(rq, &export->lease));
		fiber_sleep(rq, lease_wait_ms(&export->lease));
	}
}

static void export_all(struct request *rq)
{
	struct export *export = rq->user;
	const char *owner = rq->worker->process->instance;
	struct problem problem;
	export->store = store_new(rq, export->target);
	export->lease.name = "export";
	take_lease(rq, export, owner);
	enum err_code code =
		lease_run_try(rq, &export->lease, owner, export_days, export, &problem);
	if (code != ERR_UNAVAILABLE) /* Postgres is away: the lease runs out by itself */
		lease_give_up_all(rq, owner);
	if (code)
		raise_problem(rq, &problem);
	printf("%lld files, %lld runs\n", (long long)export->files, (long long)export->all_runs);
}

static bool read_arguments(int argc, char **argv, struct export *export)
{
	static const struct argument ARGUMENTS[] = {
		ARGUMENT_TEXT(struct export, before, "before"),
		ARGUMENT_TEXT(struct export, target, "to"),
		ARGUMENT_END,
	};
	int64_t before_ms;
	export->target = ".";
	return options_read(argc, argv, ARGUMENTS, export) && *export->target && export->before &&
	       date_parse(export->before, strlen(export->before), &before_ms) &&
	       before_ms <= time_now_ms();
}

int export_command(struct process *process, int argc, char **argv)
{
	struct export export = {0};
	return read_arguments(argc, argv, &export) ? command_run(process, export_all, &export)
	                                           : COMMAND_USAGE;
}
