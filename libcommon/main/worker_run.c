/* The life of a worker:
 *
 *     created --ready--> serving --drain--> draining --exchanges and jobs ended--> ending
 *                    ending --requests ended, others take over the background work--> closed
 *
 * The first worker, on the main thread, receives the signals and has the admin listener. SIGHUP has
 * the background worker do its recurring work at once, and SIGTERM and SIGINT end the process.
 * /readyz fails from then on, so that load balancers notice, and connections are closed after their
 * next response. Everything else goes on for DRAIN_DELAY, and then while requests come, at most for
 * DRAIN_DELAY_MAX. Then the first worker asks every worker to drain; a second signal ends the
 * delay. Draining ends when no exchange and no job is left, or at DRAIN_TIMEOUT; requests that
 * still run are then cancelled.
 */
#include "main/worker_run.h"

#include "base/timefmt.h"
#include "base/version.h"
#include "loop/fiber.h"
#include "loop/periodic.h"
#include "loop/request_list.h"
#include "loop/short_slice.h"
#include "main/admin.h"
#include "main/background.h"
#include "main/database_prepare.h"
#include "main/worker_clients.h"
#include "observe/log.h"
#include "request/http_service.h"
#include "service/service.h"
#include "task/wake.h"
#include "tls/context.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define OPENING_POLL_MS           20
#define QUIET_MS                  1000 /* without a request: nobody sends any more */
#define ENDING_POLL_MS            20
#define ENDING_MAX_MS             10000
#define MIGRATE_CONFLICT_RETRY_MS 5000 /* until somebody corrects the database */
#define DESCRIPTORS_OTHERS        512  /* not for connections of clients or to services */
#define CONNECTIONS_MAX           65536
#define CERTIFICATES_CHECK_MS     500 /* whether their files have changed */
#define UNLIMITED_MS              (UINT64_C(365) * 24 * 3600 * 1000)

struct worker_run {
	struct worker *worker;
	uv_thread_t thread;
	uv_async_t wake;              /* retires the listener, then starts draining; recurs */
	atomic_bool is_recurring_due; /* at SIGHUP */
	uv_timer_t opening, ending;
	uint64_t ending_until_ms;
	bool is_ending;
	const struct http_server *shared; /* the first worker's listener; NULL in that worker */
	struct tls_context *tls;          /* NULL: no address is served by TLS */
	struct background *background;    /* of the background worker; else NULL */
	bool has_ended_background;        /* background_end() was called */
	/* used by the first worker only: */
	struct http_server *admin;
	struct periodic *certificates; /* reads them again; NULL: there are none */
	uv_signal_t on_term, on_int, on_hup;
	uv_timer_t drain_delay;
	uint64_t delay_until_ms;
	struct http_limits limits;
};

static attr_noreturn void exit_now(int status)
{
	log_flush();
	_Exit(status);
}

static void handle_close(uv_handle_t *handle)
{
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

static bool is_first(const struct worker_run *run)
{
	return run->worker->index == 0;
}

/* The last step: free everything. The loop ends when the close callbacks have run. */
static void worker_close(struct worker_run *run)
{
	struct worker *worker = run->worker;
	const struct service *service = worker->process->service;
	if (service->worker_stop && !worker_is_background(worker))
		service->worker_stop(worker);
	background_free(run->background);
	http_server_free(worker->server);
	http_server_free(run->admin);
	periodic_free(run->certificates);
	worker_clients_free(worker);
	handle_close((uv_handle_t *)&run->wake);
	handle_close((uv_handle_t *)&run->opening);
	handle_close((uv_handle_t *)&run->ending);
	if (is_first(run)) {
		handle_close((uv_handle_t *)&run->on_term);
		handle_close((uv_handle_t *)&run->on_int);
		handle_close((uv_handle_t *)&run->on_hup);
		handle_close((uv_handle_t *)&run->drain_delay);
		/* Nobody handles them any more, and the process has yet to flush its log and
		 * traces. */
		signal(SIGTERM, SIG_IGN);
		signal(SIGINT, SIG_IGN);
		signal(SIGHUP, SIG_IGN);
	}
}

/* The first worker ends last: until then its admin listener answers. */
static void close_when_idle(uv_timer_t *timer)
{
	struct worker_run *run = timer->data;
	struct process *process = run->worker->process;
	struct request_list *requests = run->worker->requests;
	bool is_late = time_monotonic_ms() >= run->ending_until_ms;
	if (request_list_count(requests) && !is_late)
		return;
	if (request_list_count(requests)) {
		log_error("requests did not end in time, exiting anyway",
		          f_int("requests", request_list_count(requests)));
		exit_now(1);
	}
	if (run->background && !run->has_ended_background) {
		run->has_ended_background = true;
		run->ending_until_ms = time_monotonic_ms() + ENDING_MAX_MS;
		background_end(run->background);
		return;
	}
	if (!process->is_drain_announced || (is_first(run) && process->workers_running > 1))
		return;
	uv_timer_stop(timer);
	worker_close(run);
	process->workers_running--;
}

static void on_drained(void *context)
{
	struct worker_run *run = context;
	request_list_cancel(run->worker->requests, ERR_UNAVAILABLE);
	const struct service *service = run->worker->process->service;
	if (service->worker_drained && !worker_is_background(run->worker))
		service->worker_drained(run->worker);
	run->ending_until_ms = time_monotonic_ms() + ENDING_MAX_MS;
	uv_timer_start(&run->ending, close_when_idle, 0, ENDING_POLL_MS);
}

static void drain(struct worker_run *run)
{
	if (run->is_ending)
		return;
	run->is_ending = true;
	periodic_stop(run->certificates);
	uint64_t timeout_ms = (uint64_t)run->worker->process->settings->drain_timeout_ms;
	if (run->background)
		background_drain(run->background, timeout_ms, on_drained, run);
	else
		http_server_drain(run->worker->server, timeout_ms, on_drained, run);
}

static void on_wake(uv_async_t *wake)
{
	struct worker_run *run = wake->data;
	const struct process *process = run->worker->process;
	if (atomic_exchange(&run->is_recurring_due, false))
		background_recur(run->background);
	if (process->is_draining)
		drain(run);
	else if (process->is_stopping && run->worker->server)
		http_server_retire(run->worker->server);
}

static void wake_all(struct process *process)
{
	for (int i = 0; i < process_loops(process); i++)
		uv_async_send(&process->workers[i].run->wake);
}

static uint64_t last_request_ms(const struct process *process)
{
	uint64_t last_ms = 0;
	for (int i = 0; i < process->worker_count; i++)
		last_ms = MAX_OF(last_ms, http_server_last_request_ms(process->workers[i].server));
	return last_ms;
}

/* DRAIN_DELAY is over: close the listener, unless requests still come. */
static void on_delay(uv_timer_t *delay)
{
	struct worker_run *run = delay->data;
	struct process *process = run->worker->process;
	uint64_t now_ms = time_monotonic_ms();
	uint64_t quiet_ms = MIN_OF(QUIET_MS, (uint64_t)process->settings->drain_delay_ms);
	uint64_t until_ms = MIN_OF(run->delay_until_ms, last_request_ms(process) + quiet_ms);
	if (now_ms < until_ms) {
		uv_timer_start(delay, on_delay, until_ms - now_ms, 0);
		return;
	}
	process->is_draining = true;
	log_info("draining");
	wake_all(process);
	process->is_drain_announced = true;
}

static void on_signal(uv_signal_t *handle, int number)
{
	struct worker_run *run = handle->data;
	struct process *process = run->worker->process;
	const struct process_settings *settings = process->settings;
	uint64_t delay_ms = process->is_listening ? (uint64_t)settings->drain_delay_ms : 0;
	if (!process->is_stopping) {
		process->is_stopping = true;
		log_info("stopping", f_text("signal", strsignal(number)),
		         f_int("delay_ms", delay_ms));
		run->delay_until_ms = time_monotonic_ms() + (uint64_t)settings->drain_delay_max_ms;
		wake_all(process);
		uv_timer_start(&run->drain_delay, on_delay, delay_ms, 0);
	} else if (uv_is_active((uv_handle_t *)&run->drain_delay)) {
		run->delay_until_ms = 0;
		uv_timer_start(&run->drain_delay, on_delay, 0, 0);
	}
}

static void on_hangup(uv_signal_t *handle, int number attr_unused)
{
	struct process *process = ((struct worker_run *)handle->data)->worker->process;
	if (!process->has_background)
		return;
	log_info("the recurring work is done now");
	struct worker_run *run = process->workers[process->worker_count].run;
	run->is_recurring_due = true;
	uv_async_send(&run->wake);
}

/* The connections that the limit of open files leaves room for. Each may need a second descriptor,
 * to a service; the rest is for Postgres, Redis, files and the admin listener. */
static int64_t connections_possible(void)
{
	struct rlimit files;
	require(getrlimit(RLIMIT_NOFILE, &files) == 0);
	rlim_t others = MIN_OF(files.rlim_cur / 4, DESCRIPTORS_OTHERS);
	return (int64_t)MIN_OF((files.rlim_cur - others) / 2, CONNECTIONS_MAX);
}

/* Of the whole process. Each with TLS may need its memory. */
static int64_t connections_of(const struct process *process)
{
	const struct process_settings *settings = process->settings;
	int64_t connections =
		settings->connections_max ? settings->connections_max : connections_possible();
	if (process->tls)
		connections =
			MIN_OF(connections, process->service->tls->memory_bytes / TLS_CONN_BYTES);
	return connections;
}

/* The part of one worker. */
static struct http_limits limits_of(const struct process *process)
{
	const struct process_settings *settings = process->settings;
	int workers = MAX_OF(process->worker_count, 1);
	struct http_limits limits = http_limits_default;
	limits.head_max_bytes = (size_t)settings->head_max_bytes;
	limits.head_timeout_ms = (uint64_t)settings->head_timeout_ms;
	limits.content_timeout_ms = (uint64_t)settings->body_pause_ms;
	limits.content_total_ms = (uint64_t)settings->body_timeout_ms;
	limits.content_rate_min = (size_t)settings->body_rate_min_bytes;
	limits.idle_timeout_ms = (uint64_t)settings->idle_timeout_ms;
	limits.head_memory_bytes = (size_t)(settings->head_memory_bytes / workers);
	limits.send_memory_bytes = (size_t)(settings->answer_memory_bytes / workers);
	limits.connections_max = (size_t)MAX_OF(connections_of(process) / workers, 1);
	return limits;
}

static void report_listen_fault(const char *setting, const char *text, enum err_code code)
{
	log_error("cannot listen", f_text("setting", setting), f_text("address", text),
	          f_text("reason", code == ERR_INVALID ? "not an address" : uv_strerror(-errno)));
}

static bool listen_admin(struct worker_run *run)
{
	const char *text = run->worker->process->settings->admin_listen;
	struct arena *arena = arena_new();
	struct address address;
	enum err_code code = address_parse(arena, text, &address);
	if (!code)
		code = http_server_listen(run->admin, &address, NULL);
	if (code)
		report_listen_fault("ADMIN_LISTEN", text, code);
	arena_free(arena);
	return !code;
}

static bool listen_public(struct worker_run *run)
{
	struct worker *worker = run->worker;
	struct arena *arena = arena_new();
	struct listen_address addresses[LISTEN_MAX];
	size_t count;
	enum err_code code = ERR_NONE;
	require(!listen_addresses_parse(arena, worker->process->settings->listen, addresses,
	                                &count));
	for (size_t i = 0; i < count && !code; i++) {
		const struct address *address = &addresses[i].address;
		code = http_server_listen_tls(worker->server, address, run->shared,
		                              addresses[i].is_tls ? run->tls : NULL);
		if (code)
			report_listen_fault("LISTEN", address->text, code);
	}
	arena_free(arena);
	return !code;
}

/* A process opens its port when it can answer requests. Until then connections are refused, so that
 * a replica that starts does not receive requests that the others could answer. */
static bool may_open(struct process *process)
{
	const struct service *service = process->service;
	return process->is_migrated &&
	       !(service->not_ready_reason && service->not_ready_reason(process));
}

/* The first worker opens first; the others may share its socket. */
static void open_when_ready(uv_timer_t *timer)
{
	struct worker_run *run = timer->data;
	struct worker *worker = run->worker;
	struct process *process = worker->process;
	bool is_ending = run->is_ending || process->is_stopping;
	if (!is_ending && !(run->shared ? process->is_listening : may_open(process)))
		return;
	uv_timer_stop(timer);
	if (is_ending)
		return;
	if (!listen_public(run))
		exit_now(1);
	if (run->shared)
		return;
	process->is_listening = true;
	log_info("serving", f_text("listen", process->settings->listen),
	         f_text("admin_listen", process->settings->admin_listen));
}

/* Add what a worker for requests has. */
static void worker_make_server(struct worker *worker)
{
	struct process *process = worker->process;
	struct worker_run *run = worker->run;
	const struct http_handler *handler = process->service->public_handler;
	worker->server = http_server_new(&worker->loop, handler ? handler : &http_service_handler,
	                                 &run->limits, worker);
	run->shared = worker->index > 0 ? process->workers[0].server : NULL;
	run->tls = process->tls ? tls_context_new(process->tls) : NULL;
	uv_timer_start(&run->opening, open_when_ready, 0, OPENING_POLL_MS);
}

static void worker_make(struct process *process, int index)
{
	struct worker *worker = &process->workers[index];
	struct worker_run *run = calloc(1, sizeof(*run));
	require(run);
	*worker = (struct worker){.index = index, .process = process, .run = run};
	run->worker = worker;
	run->limits = limits_of(process);
	require(uv_loop_init(&worker->loop) == 0);
	uv_async_init(&worker->loop, &run->wake, on_wake);
	uv_timer_init(&worker->loop, &run->opening);
	uv_timer_init(&worker->loop, &run->ending);
	run->wake.data = run->opening.data = run->ending.data = run;
	if (!worker_is_background(worker))
		worker_make_server(worker);
}

/* Add to the first worker what a process has once: signals and the admin listener. */
static bool worker_make_first(struct process *process)
{
	struct worker *worker = &process->workers[0];
	struct worker_run *run = worker->run;
	uv_signal_init(&worker->loop, &run->on_term);
	uv_signal_init(&worker->loop, &run->on_int);
	uv_signal_init(&worker->loop, &run->on_hup);
	uv_timer_init(&worker->loop, &run->drain_delay);
	run->on_term.data = run->on_int.data = run->on_hup.data = run->drain_delay.data = run;
	uv_signal_start(&run->on_term, on_signal, SIGTERM);
	uv_signal_start(&run->on_int, on_signal, SIGINT);
	uv_signal_start(&run->on_hup, on_hangup, SIGHUP);
	run->admin = http_server_new(&worker->loop, &admin_handler, &run->limits, worker);
	return listen_admin(run);
}

static void check_certificates(struct request *rq)
{
	tls_store_check(rq->worker->process->tls, time_monotonic_ms());
}

/* Read the certificates again when their files change. */
static void watch_certificates(struct worker_run *run)
{
	if (!is_first(run) || !run->worker->process->tls)
		return;
	run->certificates = periodic_new(run->worker, "certificates", check_certificates, NULL,
	                                 CERTIFICATES_CHECK_MS, UNLIMITED_MS);
	periodic_wake(run->certificates);
}

static void worker_main(void *arg)
{
	struct worker *worker = arg;
	const struct service *service = worker->process->service;
	worker_clients_make(worker);
	watch_certificates(worker->run);
	if (worker_is_background(worker)) {
		worker->run->background = background_start(worker);
	} else {
		short_slice_ask();
		if (service->worker_start)
			service->worker_start(worker);
	}
	uv_run(&worker->loop, UV_RUN_DEFAULT);
	fiber_thread_free();
	tls_context_free(worker->run->tls);
	int rc = uv_loop_close(&worker->loop);
	if (rc)
		log_warn("event loop ended with open handles", f_text("reason", uv_strerror(rc)));
}

/* Migrates the schema in a separate thread. Until that is done the port is closed (may_open()). */
static void migrate_main(void *arg)
{
	struct process *process = arg;
	while (!process->is_stopping) {
		enum err_code code = database_prepare(process);
		if (!code) {
			process->is_migrated = true;
			return;
		}
		uv_sleep(code == ERR_UNAVAILABLE ? DATABASE_RETRY_MS : MIGRATE_CONFLICT_RETRY_MS);
	}
}

/* The main thread keeps its name, which is that of the process. */
static void thread_main(void *arg)
{
	const struct worker *worker = arg;
	char name[16];
	if (worker_is_background(worker))
		snprintf(name, sizeof(name), "background");
	else
		snprintf(name, sizeof(name), "worker-%d", worker->index);
	pthread_setname_np(pthread_self(), name);
	worker_main(arg);
}

int workers_run(struct process *process)
{
	int loops = process_loops(process);
	process->job_wake = job_wake_new();
	for (int i = 0; i < loops; i++)
		worker_make(process, i);
	if (!worker_make_first(process))
		return 1;
	log_info("starting", f_text("version", EXPOPS_VERSION), f_text("commit", version_commit),
	         f_text("roles", process->settings->roles), f_int("workers", process->worker_count),
	         f_int("connections_max", process->workers[0].run->limits.connections_max *
	                                          (size_t)process->worker_count));
	if (process->service->process_start)
		process->service->process_start(process);
	uv_thread_t migrator;
	require(uv_thread_create(&migrator, migrate_main, process) == 0);
	process->workers_running = loops;
	for (int i = 1; i < loops; i++)
		require(uv_thread_create(&process->workers[i].run->thread, thread_main,
		                         &process->workers[i]) == 0);
	worker_main(&process->workers[0]);
	for (int i = 0; i < loops; i++) {
		if (i > 0)
			uv_thread_join(&process->workers[i].run->thread);
		free(process->workers[i].run);
	}
	job_wake_free(process->job_wake);
	/* The migration may be waiting for a lock or for a server that does not answer. The server
	 * rolls it back when the connection closes. */
	if (!process->is_migrated) {
		log_info("stopped before the schema was migrated");
		exit_now(0);
	}
	uv_thread_join(&migrator);
	if (process->service->process_stop)
		process->service->process_stop(process);
	log_info("stopped");
	return 0;
}
