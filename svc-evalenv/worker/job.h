/** One build or run that the worker has claimed: its folder, its command, its lease, its report. */
#pragma once

#include "base/config.h"
#include "http/head.h"
#include "loop/request.h"
#include "worker/child.h"

#include <yyjson.h>

/** OUTPUT_MAX, DISK_MAX, LEASE_GRACE. */
extern const struct setting JOB_SETTINGS[];

/** Why a command is ended before its own end. */
enum job_end {
	JOB_GOES_ON,
	JOB_CANCELLED, /* the service says so; nothing is reported */
	/* another worker may have it: the service says so, or has not answered until LEASE_GRACE
	 * after the end of the lease. Nothing is reported */
	JOB_LOST,
	JOB_STOPPED, /* the worker ends: it is given back */
	JOB_TIMEOUT,
	JOB_OUTPUT,
	JOB_DISK,
};

/** `kind` NULL: none. */
struct job_fault {
	const char *kind, *message;
};

struct job;

struct job_kind {
	const char *name;        /* `build` */
	const char *path;        /* `/eval-env/builds` */
	const char *id_name;     /* `build_id` */
	const char *limit_fault; /* the kind of fault of one that prints or writes too much */
	/** Write its files and set the script, the arguments and the environment. Returns what is
	 * wrong with it, by job_unwritten() where a file cannot be written, or NULL. */
	const char *(*prepare)(struct request *rq, struct job *job, struct child_spec *spec);
	/** What the exit status of its child says, which is not 0. */
	struct job_fault (*fault_of)(struct request *rq, const struct job *job);
	/** Report how it ended. Suspends. */
	void (*report)(struct request *rq, struct job *job, struct job_fault fault);
};

/** IMAGE_NAME, REPOSITORY_URL; WEBHOOK_SECRETS. */
extern const struct job_kind BUILD_JOB, RUN_JOB;
extern const struct setting BUILD_JOB_SETTINGS[], RUN_JOB_SETTINGS[];

/** The exit status of a shell's command that SIGKILL has ended. */
#define EXIT_KILLED 137

struct job {
	const struct job_kind *kind;
	const char *id;
	int64_t attempt;
	yyjson_val *context;
	const char *folder;
	const uint64_t
		*stop_at_ms; /* when the worker ends it; 0: not yet. This and the next: monotonic */
	uint64_t lease_until_ms;
	uint64_t timeout_at_ms;         /* 0: only the service's */
	uint64_t beat_at_ms, log_at_ms; /* the next heartbeat; the next one with more of the log */
	enum job_end end;
	struct child *child; /* NULL: it was not started */
	int why_unbegun;     /* a negative errno; 0: it was begun, or is wrong in itself */
	bool is_lacking;     /* this machine could not begin it now, or not remove what it left */
};

/** Read a claim's answer into the job, which has its kind. `claimed_ms`: from when the lease counts
 * at the earliest. False: it is no claim. */
bool job_read(struct request *rq, struct job *job, yyjson_val *claim, int64_t date_s,
              uint64_t claimed_ms);

/** For request_run functions: work at the job in rq->user, from its folder to its report.
 * Suspends. */
void job_main(struct request *rq);

/** Note by errno why a file of the job cannot be written. Returns what is wrong, for prepare(). */
const char *job_unwritten(struct request *rq, struct job *job, const char *file);

/** Give a job back that was claimed and cannot be begun on this machine now: another worker may
 * have it at once. `why`: a negative errno, which is logged. Suspends. */
void job_give_back(struct request *rq, struct job *job, int why);

/** The variables of a command: PATH of the worker, HOME and TMPDIR in the folder, and `own`,
 * `NAME=value`. */
char **job_environment(struct request *rq, const struct job *job, char *const *own, size_t count);

/** Add the member `error` to a report. */
void job_add_fault(yyjson_mut_doc *doc, yyjson_mut_val *report, struct job_fault fault);

/** Send the report until it is answered, or the work is lost. Returns the status of the
 * answer; 0: there is none. `ret_detail` is that of a refusal, in the arena, or NULL. Suspends. */
int job_send(struct request *rq, struct job *job, const char *path, const char *content,
             const struct http_field *fields, size_t field_count, const char **ret_detail);
