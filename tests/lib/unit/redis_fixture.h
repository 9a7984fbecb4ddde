/** A Redis server for one test program, which can kill it. It listens on a unix socket and a port,
 * in a temporary folder, and with a certificate on a second port by TLS. */
#pragma once

#include "certificate.h"
#include "free_port.h"
#include "scratch.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct redis_fixture {
	char folder[SCRATCH_PATH_MAX];
	char url[128]; /* on the unix socket */
	uint16_t port, tls_port;
	const struct certificate_files *certificate; /* NULL: no TLS */
	const char *password;                        /* NULL: none */
	pid_t pid;                                   /* 0: not running */
	FILE *log; /* its standard output, open as long as it runs */
};

static inline void redis_fixture_exec(const struct redis_fixture *redis, int out)
{
	char port[8], tls_port[8], socket_path[96];
	const char *file = redis->certificate ? redis->certificate->certificate : "";
	snprintf(port, sizeof(port), "%u", redis->port);
	snprintf(tls_port, sizeof(tls_port), "%u", redis->certificate ? redis->tls_port : 0);
	snprintf(socket_path, sizeof(socket_path), "%s/socket", redis->folder);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(out, STDOUT_FILENO);
	execlp("redis-server", "redis-server", "--port", port, "--bind", "127.0.0.1",
	       "--unixsocket", socket_path, "--dir", redis->folder, "--save", "", "--appendonly",
	       "no", "--requirepass", redis->password ? redis->password : "", "--tls-port",
	       tls_port, "--tls-auth-clients", "no", "--tls-cert-file", file, "--tls-key-file",
	       redis->certificate ? redis->certificate->key : "", (char *)NULL);
	_exit(127);
}

/** Start it without data and wait until it accepts connections. */
static inline void redis_fixture_start(struct redis_fixture *redis)
{
	int out[2];
	char line[512];
	bool is_ready = false;
	assert_int_equal(redis->pid, 0);
	assert_int_equal(pipe(out), 0);
	redis->pid = fork();
	assert_true(redis->pid >= 0);
	if (redis->pid == 0)
		redis_fixture_exec(redis, out[1]);
	close(out[1]);
	redis->log = fdopen(out[0], "r");
	while (!is_ready && fgets(line, sizeof(line), redis->log))
		is_ready = strstr(line, "eady to accept connections") != NULL;
	assert_true(is_ready);
}

/** SIGKILL it; its data is lost. */
static inline void redis_fixture_kill(struct redis_fixture *redis)
{
	if (redis->pid == 0)
		return;
	kill(redis->pid, SIGKILL);
	waitpid(redis->pid, NULL, 0);
	redis->pid = 0;
	fclose(redis->log);
}

static inline void redis_fixture_new(struct redis_fixture *redis, const char *password)
{
	memset(redis, 0, sizeof(*redis));
	redis->password = password;
	scratch_new(redis->folder, "expops-redis");
	snprintf(redis->url, sizeof(redis->url), "unix:%s/socket", redis->folder);
	redis->port = free_port();
	redis->tls_port = free_port();
}

static inline void redis_fixture_free(struct redis_fixture *redis)
{
	char path[96];
	redis_fixture_kill(redis);
	snprintf(path, sizeof(path), "%s/socket", redis->folder);
	unlink(path);
	rmdir(redis->folder);
}
