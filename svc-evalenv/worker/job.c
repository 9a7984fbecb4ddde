#include "worker/job.h"

#include "base/timefmt.h"
#include "json/json.h"
#include "loop/wait.h"
#include "observe/log.h"
#include "pacing/backoff.h"
#include "worker/api.h"
#include "worker/folder.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define CALL_TIMEOUT_MS  10000
#define BEAT_EVERY_MS    ((uint64_t)5000) /* so that a cancelled one ends soon */
#define LOG_EVERY_MS     2000             /* heartbeats with more of the log */
#define RETRY_MS         1000
#define RETRY_MAX_MS     10000
#define CLOCK_STEP_MS    1000 /* of the field Date */
#define LEASE_UNKNOWN_MS 30000
#define EXIT_FILE_SIZE   (128 + SIGXFSZ) /* of a shell */
#define EXIT_TIMED_OUT   124             /* of timeout(1) */
#define BEATS_OF_A_LEASE 3

static int64_t output_max_bytes, disk_max_bytes, lease_grace_ms;

const struct setting JOB_SETTINGS[] = {
	SETTING_BYTES(&output_max_bytes, "OUTPUT_MAX", "64MiB", 1024, INT64_C(1) << 50,
                      "How much a command may print."),
	SETTING_BYTES(&disk_max_bytes, "DISK_MAX", "10GiB", 1 << 20, INT64_C(1) << 50,
                      "How much a command may write into its folder, and into one file anywhere."),
	SETTING_MS(&lease_grace_ms, "LEASE_GRACE", "10m", 0, 86400000,
                   "How long a build or run goes on after the end of its lease while the service "
                   "does not answer."),
	SETTING_END,
};

/* --- The lease -------------------------------------------------------------------------------- */

/* By the worker's own clock, from the earliest time at which the service may have said so: clocks
 * may differ. The field Date has whole seconds. */
static void extend(struct job *job, const char *until, int64_t date_s, uint64_t from_ms)
{
	int64_t until_ms, lease_ms = LEASE_UNKNOWN_MS;
	if (until && date_s && time_parse(until, strlen(until), &until_ms))
		lease_ms = until_ms - date_s * 1000;
	lease_ms = MAX_OF(lease_ms - CLOCK_STEP_MS, lease_ms / 2);
	job->lease_until_ms = from_ms + (uint64_t)MAX_OF(lease_ms, 0);
	job->beat_at_ms =
		from_ms + MIN_OF((uint64_t)MAX_OF(lease_ms, 0) / BEATS_OF_A_LEASE, BEAT_EVERY_MS);
}

/* The service may be away, and then gives the work to nobody; it says so when it has. */
static bool is_abandoned(const struct job *job)
{
	return time_monotonic_ms() >= job->lease_until_ms + (uint64_t)lease_grace_ms;
}

bool job_read(struct request *rq attr_unused, struct job *job, yyjson_val *claim, int64_t date_s,
              uint64_t claimed_ms)
{
	yyjson_val *work = json_get(claim, job->kind->name);
	job->context = json_get(claim, "context");
	job->id = json_get_text(work, job->kind->id_name);
	job->attempt = json_get_int(claim, "attempt", 0);
	if (!job->id || !job->attempt || !yyjson_is_obj(job->context))
		return false;
	extend(job, json_get_text(claim, "lease_until"), date_s, claimed_ms);
	return true;
}

static const char *heartbeat_content(struct request *rq, const struct job *job, const char *log,
                                     bool releases)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *beat = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_int(doc, beat, "attempt", job->attempt);
	json_add_text(doc, beat, "log", log);
	yyjson_mut_obj_add_bool(doc, beat, "release", releases);
	return json_write_mut(rq->arena, beat, NULL);
}

/* A heartbeat whose answer does not come is not repeated with its part of the log. */
static void beat(struct request *rq, struct job *job, bool is_last)
{
	uint64_t now_ms = time_monotonic_ms();
	bool releases = job->end == JOB_STOPPED;
	const char *log = job->child ? tail_take(rq->arena, &job->child->output, is_last) : NULL;
	struct api_call call = {
		.path = arena_printf(rq->arena, "%s/%s/heartbeat", job->kind->path, job->id),
		.content = heartbeat_content(rq, job, log, releases),
		.timeout_ms = CALL_TIMEOUT_MS,
	};
	job->log_at_ms = now_ms + LOG_EVERY_MS;
	job->beat_at_ms = now_ms + RETRY_MS;
	if (api_call_try(rq, &call))
		return;
	if (call.answer->status != 200) {
		log_warn("work was lost", f_text("id", job->id), f_int("attempt", job->attempt),
		         f_text("reason", api_detail(&call)));
		job->end = JOB_LOST;
	} else if (json_get_bool(call.json, "cancelled", false)) {
		job->end = JOB_CANCELLED;
	} else {
		extend(job, json_get_text(call.json, "lease_until"), fetch_date_s(call.answer),
		       now_ms);
	}
}

/* In a page, because a job may have thousands of them. */
static void heartbeat(struct request *rq, struct job *job, bool is_last)
{
	request_page_begin(rq);
	beat(rq, job, is_last);
	request_page_end(rq);
}

/* --- The command ------------------------------------------------------------------------------ */

char **job_environment(struct request *rq, const struct job *job, char *const *own, size_t count)
{
	char *const common[] = {
		child_path_variable(rq->arena),
		arena_printf(rq->arena, "HOME=%s", job->folder),
		arena_printf(rq->arena, "TMPDIR=%s", job->folder),
		"LANG=C.UTF-8",
	};
	char **all = arena_array(rq->arena, ARRAY_LEN(common) + count + 1, sizeof(*all));
	memcpy(all, common, sizeof(common));
	memcpy(all + ARRAY_LEN(common), own, count * sizeof(*own));
	return all;
}

struct measure {
	const char *folder;
	int64_t bytes;
};

static void measure_run(void *arg)
{
	struct measure *measure = arg;
	measure->bytes = folder_size(measure->folder);
}

static enum job_end limit_reached(struct request *rq, const struct job *job)
{
	uint64_t now_ms = time_monotonic_ms();
	struct measure measure = {.folder = job->folder};
	if (is_abandoned(job))
		return JOB_LOST;
	if (job->timeout_at_ms && now_ms >= job->timeout_at_ms)
		return JOB_TIMEOUT;
	if (*job->stop_at_ms && now_ms >= *job->stop_at_ms)
		return JOB_STOPPED;
	if (job->child->output.length > (uint64_t)output_max_bytes)
		return JOB_OUTPUT;
	fiber_offload(rq, LANE_SHORT, measure_run, &measure);
	return measure.bytes > disk_max_bytes ? JOB_DISK : JOB_GOES_ON;
}

static void follow(struct request *rq, struct job *job)
{
	struct child *child = job->child;
	while (!child->has_ended) {
		uint64_t now_ms = time_monotonic_ms();
		bool has_log = child->output.length > child->output.taken;
		if (job->end == JOB_GOES_ON)
			job->end = limit_reached(rq, job);
		if (job->end != JOB_GOES_ON)
			child_end(child);
		else if (now_ms >= job->beat_at_ms || (has_log && now_ms >= job->log_at_ms))
			heartbeat(rq, job, false);
		child_wait(rq, child);
	}
	if (job->end == JOB_GOES_ON && child->exit_status == EXIT_TIMED_OUT && job->timeout_at_ms &&
	    time_monotonic_ms() >= job->timeout_at_ms)
		job->end = JOB_TIMEOUT; /* the worker itself was not there in time */
	if (job->end == JOB_GOES_ON && child->exit_status == EXIT_FILE_SIZE)
		job->end = JOB_DISK;
	if (job->end == JOB_GOES_ON && child->output.length > (uint64_t)output_max_bytes)
		job->end = JOB_OUTPUT;
}

/* --- The end ---------------------------------------------------------------------------------- */

static struct job_fault fault_of(struct request *rq, const struct job *job)
{
	const char *limit = job->kind->limit_fault;
	switch (job->end) {
	case JOB_TIMEOUT:
		return (struct job_fault){"timeout", "It took too long."};
	case JOB_OUTPUT:
		return (struct job_fault){limit, arena_printf(rq->arena,
		                                              "It printed more than %lld bytes.",
		                                              (long long)output_max_bytes)};
	case JOB_DISK:
		return (struct job_fault){limit,
		                          arena_printf(rq->arena, "It wrote more than %lld bytes.",
		                                       (long long)disk_max_bytes)};
	default:
		if (job->child->exit_status == 0)
			return (struct job_fault){NULL};
		return job->kind->fault_of(rq, job);
	}
}

void job_add_fault(yyjson_mut_doc *doc, yyjson_mut_val *report, struct job_fault fault)
{
	yyjson_mut_val *error = yyjson_mut_obj_add_obj(doc, report, "error");
	json_add_text(doc, error, "kind", fault.kind);
	json_add_text(doc, error, "message", fault.message);
}

int job_send(struct request *rq, struct job *job, const char *path, const char *content,
             const struct http_field *fields, size_t field_count, const char **ret_detail)
{
	struct api_call call = {
		.path = path,
		.content = content,
		.timeout_ms = CALL_TIMEOUT_MS,
		.fields = fields,
		.field_count = field_count,
	};
	for (unsigned failures = 1; !is_abandoned(job); failures++) {
		if (api_call_try(rq, &call) == ERR_NONE) {
			*ret_detail = call.answer->status == 200 ? NULL : api_detail(&call);
			return call.answer->status;
		}
		fiber_sleep(rq, backoff_ms(failures, RETRY_MS, RETRY_MAX_MS));
	}
	log_warn("work was lost", f_text("id", job->id), f_int("attempt", job->attempt),
	         f_text("reason", "the report was not answered"));
	*ret_detail = NULL;
	return 0;
}

/* An unsent part of the log, or a lease that is to end, goes first. */
static void finish(struct request *rq, struct job *job)
{
	if (job->end == JOB_CANCELLED || job->end == JOB_LOST)
		return;
	heartbeat(rq, job, true);
	if (job->end == JOB_CANCELLED || job->end == JOB_LOST || job->end == JOB_STOPPED)
		return;
	job->kind->report(rq, job, fault_of(rq, job));
}

static void give_back(struct request *rq, struct job *job)
{
	job->end = JOB_STOPPED;
	heartbeat(rq, job, true);
}

/* What the machine lacks at present: processes, memory, descriptors, or a disk that takes files.
 * Otherwise the job is at fault, as one with more arguments than the kernel takes. */
static bool is_lacking(int why)
{
	static const int LACKING[] = {UV_EAGAIN, UV_ENOMEM, UV_EMFILE, UV_ENFILE,
	                              UV_ENOSPC, -EDQUOT,   UV_EROFS,  UV_EIO};
	for (size_t i = 0; i < ARRAY_LEN(LACKING); i++)
		if (why == LACKING[i])
			return true;
	return false;
}

const char *job_unwritten(struct request *rq, struct job *job, const char *file)
{
	job->why_unbegun = uv_translate_sys_error(errno);
	return arena_printf(rq->arena, "%s cannot be written: %s.", file,
	                    uv_strerror(job->why_unbegun));
}

void job_give_back(struct request *rq, struct job *job, int why)
{
	log_warn("work was not begun and is given back", f_text("id", job->id),
	         f_int("attempt", job->attempt), f_text("reason", uv_strerror(why)));
	job->is_lacking = true;
	give_back(rq, job);
}

static void end_unbegun(struct request *rq, struct job *job, const char *message)
{
	if (is_lacking(job->why_unbegun)) {
		job_give_back(rq, job, job->why_unbegun);
		return;
	}
	log_warn("work was not begun", f_text("id", job->id), f_int("attempt", job->attempt),
	         f_text("reason", message));
	job->kind->report(rq, job, (struct job_fault){"environment", message});
}

/* Returns what is wrong with it, or NULL. */
static const char *start(struct request *rq, struct job *job, const struct child_spec *spec)
{
	job->child = child_start(rq, spec, &job->why_unbegun);
	return job->child ? NULL
	                  : arena_printf(rq->arena, "The command was not started: %s.",
	                                 uv_strerror(job->why_unbegun));
}

void job_main(struct request *rq)
{
	struct job *job = rq->user;
	struct child_spec spec = {.folder = job->folder, .file_max_bytes = disk_max_bytes};
	if (*job->stop_at_ms) {
		give_back(rq, job);
		return;
	}
	const char *wrong = job->kind->prepare(rq, job, &spec);
	log_info("work begun", f_text("kind", job->kind->name), f_text("id", job->id),
	         f_int("attempt", job->attempt));
	if (!wrong)
		wrong = start(rq, job, &spec);
	if (wrong) {
		end_unbegun(rq, job, wrong);
		return;
	}
	follow(rq, job);
	finish(rq, job);
	log_info("work ended", f_text("kind", job->kind->name), f_text("id", job->id),
	         f_int("attempt", job->attempt), f_int("exit_status", job->child->exit_status),
	         f_int("end", job->end), f_int("output_bytes", job->child->output.length));
}
