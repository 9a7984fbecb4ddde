/** A command of the shell, with its children in a process group of its own, that a fiber waits
 * for. */
#pragma once

#include "loop/request.h"
#include "worker/tail.h"

struct child_spec {
	const char *script;
	char **args; /* of the script, "$1" and so on; NULL ends */
	char **env;  /* the whole environment; NULL ends */
	const char *folder;
	int64_t file_max_bytes; /* for each file that it writes */
	/* Also without this process: the group gets SIGTERM then, and SIGKILL CHILD_ORPHAN_S later.
	 * 0: none */
	int64_t time_limit_s;
	/* It sees its own processes alone, and all of them end with it: in a PID namespace, with a
	 * /proc of its own (pid_namespaces(7)), which needs CAP_SYS_ADMIN. It has mounts of its
	 * own, and shared memory. */
	bool has_own_pids;
};

struct child {
	struct tail output;        /* of standard output and standard error */
	bool has_ended;            /* and its output too */
	int64_t exit_status;       /* 128 and the signal, as a shell has it, if that ended it */
	struct child_state *state; /* internal */
};

/** Before the first child: find out what the system can do. Blocks. */
void child_init(void);

/** Start it. The group is killed when the request or its page ends. It ends too when this process
 * does, however that ends: the group gets SIGTERM, and SIGKILL CHILD_ORPHAN_S later. NULL: the
 * system does not start it; `ret_why` is libuv's error. */
#define CHILD_ORPHAN_S 10
struct child *child_start(struct request *rq, const struct child_spec *spec, int *ret_why);

/** Run a script outside of a job, without output. Of the worker's environment it has PATH, and it
 * has no HOME. Whether it has ended with 0. Blocks. */
bool child_try(const char *script, bool has_own_pids);

/** The variable `PATH=…` of the worker, which all commands have. */
char *child_path_variable(struct arena *arena);

/** Wait for its end, but at most CHILD_TICK_MS. Suspends. */
#define CHILD_TICK_MS 500
void child_wait(struct request *rq, struct child *child);

/** Ask the group to end: SIGTERM, and SIGKILL where that has not helped within CHILD_GRACE_MS. Can
 * be repeated. */
#define CHILD_GRACE_MS 3000
void child_end(struct child *child);
