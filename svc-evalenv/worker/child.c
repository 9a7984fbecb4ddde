#include "worker/child.h"

#include "base/timefmt.h"
#include "loop/worker.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_SIZE ((size_t)64 << 10)
#define DRAIN_MS \
	2000 /* for output behind the end, which a process outside of the group may keep open */
#define ULIMIT_BLOCK  512 /* of ulimit -f (POSIX) */
#define KILLED_STATUS 128

/* On the heap, because libuv closes the handles after the request's end. */
struct child_state {
	struct child child;
	struct request *rq; /* NULL: it has ended */
	uv_process_t process;
	uv_pipe_t pipe;
	uv_timer_t tick;
	int open_handles;
	bool has_exited, is_at_end, is_signalled;
	uint64_t exited_at_ms, signalled_at_ms;
	char buffer[READ_SIZE];
};

static void on_closed(uv_handle_t *handle)
{
	struct child_state *state = handle->data;
	if (--state->open_handles == 0)
		free(state);
}

static void close_handle(struct child_state *state, uv_handle_t *handle)
{
	handle->data = state;
	if (!uv_is_closing(handle))
		uv_close(handle, on_closed);
}

static void notice(struct child_state *state)
{
	uint64_t now_ms = time_monotonic_ms();
	bool is_late = state->has_exited && now_ms >= state->exited_at_ms + DRAIN_MS;
	state->child.has_ended = state->has_exited && (state->is_at_end || is_late);
	if (state->rq && state->rq->fiber)
		fiber_wake(state->rq->fiber);
}

static void on_exited(uv_process_t *process, int64_t status, int signal)
{
	struct child_state *state = process->data;
	state->has_exited = true;
	state->exited_at_ms = time_monotonic_ms();
	state->child.exit_status = signal ? KILLED_STATUS + signal : status;
	kill(-process->pid, SIGKILL); /* what it has left behind */
	notice(state);
}

static void on_alloc(uv_handle_t *handle, size_t suggested attr_unused, uv_buf_t *buf)
{
	struct child_state *state = handle->data;
	*buf = uv_buf_init(state->buffer, READ_SIZE);
}

static void on_read(uv_stream_t *stream, ssize_t length, const uv_buf_t *buf)
{
	struct child_state *state = stream->data;
	if (length > 0) {
		tail_add(&state->child.output, buf->base, (size_t)length);
	} else if (length < 0) {
		state->is_at_end = true;
		uv_read_stop(stream);
		notice(state);
	}
}

static void on_tick(uv_timer_t *tick)
{
	struct child_state *state = tick->data;
	if (state->is_signalled && !state->has_exited)
		child_end(&state->child);
	notice(state);
}

/* Also when its request ends before it does. */
static void release(struct request *rq attr_unused, void *held)
{
	struct child_state *state = held;
	state->rq = NULL;
	if (!state->has_exited)
		kill(-state->process.pid, SIGKILL);
	close_handle(state, (uv_handle_t *)&state->process);
	close_handle(state, (uv_handle_t *)&state->pipe);
	close_handle(state, (uv_handle_t *)&state->tick);
}

/* --- What runs the shell ---------------------------------------------------------------------- */

/* SIGTERM for timeout(1) at the end of the thread that has started it, which is the loop's
 * (PR_SET_PDEATHSIG). setpriv(1) and unshare(1) are parts of util-linux. */
static char *const WITH_PARENT_DEATH[] = {"setpriv", "--pdeathsig", "TERM", NULL};
static char *const WITH_OWN_PIDS[] = {"unshare",      "--ipc",        "--pid", "--fork",
                                      "--kill-child", "--mount-proc", NULL};

static bool has_parent_death;

static size_t words_count(char *const *words)
{
	size_t count = 0;
	while (words && words[count])
		count++;
	return count;
}

/* Copy words, NULL-terminated or NULL, to `line`. Returns where the next one goes. */
static char **add_words(char **line, char *const *words)
{
	size_t count = words_count(words);
	for (size_t i = 0; i < count; i++)
		line[i] = words[i];
	return line + count;
}

/* The words of `shell -c script sh args…`; `args` may be NULL. */
static char **shell_line(struct arena *arena, bool has_own_pids, const char *script, char **args)
{
	char *const shell[] = {"/bin/sh", "-c", (char *)script, "sh", NULL};
	char **line =
		arena_array(arena,
	                    ARRAY_LEN(WITH_OWN_PIDS) + ARRAY_LEN(shell) + words_count(args) + 1,
	                    sizeof(*line));
	char **at = add_words(line, has_own_pids ? WITH_OWN_PIDS : NULL);
	add_words(add_words(at, shell), args);
	return line;
}

/* The same below timeout(1), which passes the SIGTERM that it gets to its process group, and sends
 * SIGKILL where that does not help. Its limit is there for a worker that hangs. */
static char **limited_line(struct request *rq, char **shell, int64_t time_limit_s)
{
	char *const timeout[] = {"timeout",
	                         arena_printf(rq->arena, "--kill-after=%d", CHILD_ORPHAN_S),
	                         arena_printf(rq->arena, "%lld", (long long)time_limit_s), NULL};
	char **line = arena_array(rq->arena,
	                          ARRAY_LEN(WITH_PARENT_DEATH) + ARRAY_LEN(timeout) +
	                                  words_count(shell) + 1,
	                          sizeof(*line));
	char **at = add_words(line, has_parent_death ? WITH_PARENT_DEATH : NULL);
	add_words(add_words(at, timeout), shell);
	return line;
}

void child_init(void)
{
	has_parent_death = child_try("setpriv --pdeathsig TERM true", false);
}

/* The shell sets its own limits, as libuv sets none. */
static const char *limited_script(struct request *rq, const struct child_spec *spec)
{
	return arena_printf(rq->arena, "ulimit -c 0; ulimit -f %lld\n%s",
	                    (long long)(spec->file_max_bytes / ULIMIT_BLOCK), spec->script);
}

/* `output` is where it writes. */
static int spawn(struct request *rq, struct child_state *state, const struct child_spec *spec,
                 uv_file output)
{
	uv_stdio_container_t stdio[] = {
		{.flags = UV_IGNORE},
		{.flags = UV_INHERIT_FD, .data.fd = output},
		{.flags = UV_INHERIT_FD, .data.fd = output},
	};
	char **shell =
		shell_line(rq->arena, spec->has_own_pids, limited_script(rq, spec), spec->args);
	char **line = limited_line(rq, shell, spec->time_limit_s);
	const uv_process_options_t options = {
		.file = line[0],
		.args = line,
		.env = spec->env,
		.cwd = spec->folder,
		.flags = UV_PROCESS_DETACHED,
		.stdio = stdio,
		.stdio_count = ARRAY_LEN(stdio),
		.exit_cb = on_exited,
	};
	return uv_spawn(&rq->worker->loop, &state->process, &options);
}

struct child *child_start(struct request *rq, const struct child_spec *spec, int *ret_why)
{
	uv_file ends[2];
	*ret_why = uv_pipe(ends, UV_NONBLOCK_PIPE, 0);
	if (*ret_why)
		return NULL;
	struct child_state *state = calloc(1, sizeof(*state));
	require(state);
	state->rq = rq;
	state->child.state = state;
	state->process.data = state->pipe.data = state->tick.data = state;
	state->open_handles = 3;
	uv_pipe_init(&rq->worker->loop, &state->pipe, 0);
	uv_timer_init(&rq->worker->loop, &state->tick);
	require(uv_pipe_open(&state->pipe, ends[0]) == 0);
	*ret_why = spawn(rq, state, spec, ends[1]);
	close(ends[1]);
	state->has_exited = *ret_why != 0;
	request_hold(rq, release, state);
	if (*ret_why)
		return NULL;
	uv_read_start((uv_stream_t *)&state->pipe, on_alloc, on_read);
	uv_timer_start(&state->tick, on_tick, CHILD_TICK_MS, CHILD_TICK_MS);
	return &state->child;
}

static void on_tried(uv_process_t *process, int64_t status, int signal)
{
	*(bool *)process->data = status == 0 && signal == 0;
	uv_close((uv_handle_t *)process, NULL);
}

char *child_path_variable(struct arena *arena)
{
	const char *path = getenv("PATH");
	return arena_printf(arena, "PATH=%s", path ? path : "/usr/bin:/bin");
}

bool child_try(const char *script, bool has_own_pids)
{
	bool has_succeeded = false;
	struct arena *arena = arena_new();
	uv_loop_t loop;
	uv_process_t process = {.data = &has_succeeded};
	char **line = shell_line(arena, has_own_pids, script, NULL);
	char *env[] = {child_path_variable(arena), "HOME=/nonexistent", "LANG=C.UTF-8", NULL};
	const uv_process_options_t options = {
		.file = line[0],
		.args = line,
		.env = env,
		.exit_cb = on_tried,
	};
	require(uv_loop_init(&loop) == 0);
	if (uv_spawn(&loop, &process, &options))
		uv_close((uv_handle_t *)&process, NULL);
	uv_run(&loop, UV_RUN_DEFAULT);
	require(uv_loop_close(&loop) == 0);
	arena_free(arena);
	return has_succeeded;
}

void child_wait(struct request *rq, struct child *child)
{
	if (!child->has_ended)
		request_wait(rq);
}

void child_end(struct child *child)
{
	struct child_state *state = child->state;
	uint64_t now_ms = time_monotonic_ms();
	if (state->has_exited)
		return;
	if (!state->is_signalled) {
		state->is_signalled = true;
		state->signalled_at_ms = now_ms;
		kill(state->process.pid, SIGTERM); /* timeout(1) passes it to the group */
	} else if (now_ms >= state->signalled_at_ms + CHILD_GRACE_MS) {
		kill(-state->process.pid, SIGKILL);
	}
}
