#include "worker/worker.h"

#include "base/timefmt.h"
#include "json/json.h"
#include "loop/wait.h"
#include "main/command_run.h"
#include "observe/log.h"
#include "pacing/backoff.h"
#include "worker/api.h"
#include "worker/builder.h"
#include "worker/child.h"
#include "worker/folder.h"
#include "worker/job.h"
#include "worker/leftover.h"
#include "worker/resources.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CLAIM_TIMEOUT_MS 40000
#define ANSWER_MS        2000 /* that an answer may be on its way */
#define RETRY_MS         500
#define RETRY_MAX_MS     15000
#define HOST_MAX         64

static const char *worker_name, *work_dir;
static int64_t build_slots, run_slots, stop_timeout_ms, claim_wait_ms;

static const struct setting SLOT_SETTINGS[] = {
	SETTING_TEXT(&worker_name, "WORKER_NAME", "",
                     "The worker's name, for people; empty: that of the host."),
	SETTING_TEXT(&work_dir, "WORK_DIR", "/var/tmp",
                     "Where the folders of builds and runs are made."),
	SETTING_INT(&build_slots, "BUILD_SLOTS", "1", 0, 64, "Builds at the same time."),
	SETTING_INT(&run_slots, "RUN_SLOTS", "1", 0, 64, "Runs at the same time."),
	SETTING_MS(
		&claim_wait_ms, "CLAIM_WAIT", "10s", 1000, 25000,
		"How long a claim waits for work; a worker at rest ends that long after SIGTERM."),
	SETTING_MS(&stop_timeout_ms, "STOP_TIMEOUT", "20s", 0, 86400000,
                   "How long builds and runs may go on after SIGTERM before they are given back."),
	SETTING_END,
};

const struct setting *const WORKER_SETTINGS[] = {
	API_SETTINGS,       SLOT_SETTINGS,    BUILDER_SETTINGS,  JOB_SETTINGS,
	BUILD_JOB_SETTINGS, RUN_JOB_SETTINGS, RESOURCE_SETTINGS, NULL,
};

/* One piece of work at a time. */
struct slot {
	struct worker_program *program;
	struct job job;
	uint64_t pause_ms;       /* before the next claim; 0: none */
	struct request *pausing; /* NULL: it is not */
	unsigned failures;       /* of claims, in succession */
	unsigned lacks;          /* of what work needs, in succession */
	bool is_refused;         /* the key */
};

struct worker_program {
	struct slot *slots;
	size_t slot_count;
	uint64_t stop_at_ms; /* 0: it goes on */
	bool has_leftovers;  /* containers that could not be removed */
	uv_signal_t on_term, on_int;
};

/* --- Claims ----------------------------------------------------------------------------------- */

static const char *claim_content(struct request *rq)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *claim = yyjson_mut_obj(doc);
	json_add_text(doc, claim, "worker", worker_name);
	yyjson_mut_obj_add_int(doc, claim, "wait_seconds", claim_wait_ms / 1000);
	return json_write_mut(rq->arena, claim, NULL);
}

/* When the service may have given the work: not before the claim was sent, nor much before its
 * answer, which may have waited for work longer than the work stays without a heartbeat. */
static uint64_t claimed_at_ms(uint64_t sent_ms)
{
	uint64_t now_ms = time_monotonic_ms();
	return now_ms - MIN_OF(now_ms - sent_ms, (uint64_t)ANSWER_MS);
}

static void read_claim(struct request *rq, struct slot *slot, const struct api_call *call,
                       uint64_t claimed_ms)
{
	if (call->answer->status == 401 || call->answer->status == 403) {
		slot->is_refused = true;
	} else if (call->answer->status == 200) {
		if (job_read(rq, &slot->job, call->json, fetch_date_s(call->answer), claimed_ms))
			return;
		log_error("the answer to a claim is unusable");
		slot->job.id = NULL;
	} else if (call->answer->status != 204) {
		log_error("a claim was refused", f_int("status", call->answer->status),
		          f_text("reason", api_detail(call)));
		slot->pause_ms = RETRY_MAX_MS;
	}
}

/* SIGTERM does not cancel a claim: its answer may be on the way, or the service may go on waiting
 * for a client that has gone, and then give it work. Whether there is work. */
static bool claim(struct request *rq, struct slot *slot)
{
	struct api_call call = {
		.path = arena_printf(rq->arena, "%s/claim", slot->job.kind->path),
		.content = claim_content(rq),
		.timeout_ms = CLAIM_TIMEOUT_MS,
	};
	uint64_t sent_ms = time_monotonic_ms();
	enum err_code code = api_call_try(rq, &call);
	if (code) {
		slot->pause_ms = backoff_ms(++slot->failures, RETRY_MS, RETRY_MAX_MS);
		log_warn("a claim was not answered", f_text("reason", err_info(code)->detail),
		         f_int("pause_ms", slot->pause_ms));
		return false;
	}
	slot->failures = 0;
	read_claim(rq, slot, &call, claimed_at_ms(sent_ms));
	if (slot->is_refused)
		raise_error(rq, ERR_FORBIDDEN,
		            "EXPOPS_KEY is refused: it needs the scope eval:report");
	return slot->job.id;
}

/* --- Work ------------------------------------------------------------------------------------- */

struct removal {
	const char *folder; /* NULL: all that were left */
	bool is_done;
};

static void remove_run(void *arg)
{
	struct removal *removal = arg;
	removal->is_done =
		removal->folder ? leftover_remove(removal->folder) : leftovers_remove(work_dir);
}

static void remove_main(struct request *rq)
{
	fiber_offload(rq, LANE_LONG, remove_run, rq->user);
}

/* False: a container may be left, or the folder is. */
static bool remove_folder(struct request *rq, struct slot *slot, const char *folder)
{
	struct removal *removal = arena_new_of(rq->arena, struct removal);
	struct problem problem = {0};
	removal->folder = folder;
	fiber_spawn(rq, remove_main, removal);
	if (fiber_join_try(rq, &problem))
		log_error("a folder is left until the next start",
		          f_text("folder", folder ? folder : work_dir),
		          f_text("reason", problem.detail));
	if (!removal->is_done)
		slot->program->has_leftovers = true;
	return removal->is_done;
}

/* The engine may answer again. */
static void remove_leftovers(struct request *rq, struct slot *slot)
{
	if (!slot->program->has_leftovers)
		return;
	slot->program->has_leftovers = false;
	remove_folder(rq, slot, NULL);
}

/* What the machine lacks may be there later. Until then others have the work. */
static void pause_lacking(struct slot *slot)
{
	slot->pause_ms = backoff_ms(++slot->lacks, RETRY_MS, RETRY_MAX_MS);
}

/* Each in a member of the slot's request: one that fails would end the program. */
static void work_in(struct request *rq, struct slot *slot, const char *folder)
{
	struct problem problem = {0};
	slot->job.folder = folder;
	fiber_spawn(rq, job_main, &slot->job);
	if (fiber_join_try(rq, &problem))
		log_error("work was given up", f_text("id", slot->job.id),
		          f_text("reason", problem.detail));
	if (!remove_folder(rq, slot, folder))
		slot->job.is_lacking = true;
}

static void work(struct request *rq, struct slot *slot)
{
	int lock;
	char *folder = folder_make(work_dir, &lock);
	if (folder) {
		work_in(rq, slot, folder);
		close(lock);
		free(folder);
	} else {
		job_give_back(rq, &slot->job, uv_translate_sys_error(errno));
	}
	if (slot->job.is_lacking)
		pause_lacking(slot);
	else
		slot->lacks = 0;
}

/* Claim and do one piece of work, if the machine has room for it. A full disk would otherwise fail
 * all that waits, one after the other. */
static void take(struct request *rq, struct slot *slot)
{
	remove_leftovers(rq, slot);
	if (!folder_takes_files(work_dir)) {
		log_error("nothing is claimed: WORK_DIR takes no files", f_text("folder", work_dir),
		          f_text("reason", uv_strerror(uv_translate_sys_error(errno))));
		pause_lacking(slot);
	} else if (claim(rq, slot)) {
		work(rq, slot); /* gives it back, if it has to stop */
	}
}

static void pause_main(struct request *rq)
{
	struct slot *slot = rq->user;
	slot->pausing = rq;
	if (!slot->program->stop_at_ms)
		fiber_sleep(rq, slot->pause_ms);
}

/* In a member of the slot's request, so that SIGTERM can end the pause alone. */
static void pause_slot(struct request *rq, struct slot *slot)
{
	fiber_spawn(rq, pause_main, slot);
	fiber_join_try(rq, NULL);
	slot->pausing = NULL;
	slot->pause_ms = 0;
}

static void slot_main(struct request *rq)
{
	struct slot *slot = rq->user;
	const struct job_kind *kind = slot->job.kind;
	while (!slot->program->stop_at_ms) {
		request_page_begin(rq);
		slot->job = (struct job){.kind = kind, .stop_at_ms = &slot->program->stop_at_ms};
		take(rq, slot);
		if (slot->pause_ms)
			pause_slot(rq, slot);
		request_page_end(rq);
	}
}

/* --- Start and stop --------------------------------------------------------------------------- */

/* Work goes on for a while, and claims that wait for work until they are answered. */
static void on_stop(uv_signal_t *signal, int number attr_unused)
{
	struct worker_program *program = signal->data;
	if (program->stop_at_ms)
		return;
	program->stop_at_ms = time_monotonic_ms() + (uint64_t)stop_timeout_ms;
	for (size_t i = 0; i < program->slot_count; i++)
		if (program->slots[i].pausing)
			request_cancel(program->slots[i].pausing, ERR_UNAVAILABLE);
}

static void listen_for(struct request *rq, struct worker_program *program, uv_signal_t *signal,
                       int number)
{
	require(uv_signal_init(&rq->worker->loop, signal) == 0);
	signal->data = program;
	uv_signal_start(signal, on_stop, number);
	uv_unref((uv_handle_t *)signal);
}

static void program_main(struct request *rq)
{
	struct worker_program *program = rq->user;
	program->slot_count = (size_t)(build_slots + run_slots);
	program->slots = arena_array(rq->arena, program->slot_count, sizeof(*program->slots));
	listen_for(rq, program, &program->on_term, SIGTERM);
	listen_for(rq, program, &program->on_int, SIGINT);
	log_info("working", f_text("worker", worker_name), f_int("build_slots", build_slots),
	         f_int("run_slots", run_slots));
	for (size_t i = 0; i < program->slot_count; i++) {
		struct slot *slot = &program->slots[i];
		slot->program = program;
		slot->job.kind = i < (size_t)build_slots ? &BUILD_JOB : &RUN_JOB;
		fiber_spawn(rq, slot_main, slot);
	}
	fiber_join(rq);
	log_info("stopped");
	uv_close((uv_handle_t *)&program->on_term, NULL);
	uv_close((uv_handle_t *)&program->on_int, NULL);
}

int worker_command(struct process *process, int argc, char **argv attr_unused)
{
	static char host[HOST_MAX + 1] = "worker";
	struct worker_program program = {0};
	if (argc > 1)
		return COMMAND_USAGE;
	/* What was opened for the worker, such as a descriptor with its key, is not for what it
	 * starts. */
	(void)close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
	child_init();
	if (builder_init())
		return 2;
	program.has_leftovers = !leftovers_remove(work_dir);
	gethostname(host, HOST_MAX);
	if (!*worker_name)
		worker_name = host;
	return outside_run(process, program_main, &program);
}
