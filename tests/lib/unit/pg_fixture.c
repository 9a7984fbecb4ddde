#include "pg_fixture.h"

#include "free_port.h"
#include "scratch.h"

#include <libpq-fe.h>

#include <glob.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define SKIPPED 77

/* A program of the newest installed server. */
static void find_program(const char *name, char *path, size_t size)
{
	char pattern[64];
	glob_t found;
	snprintf(pattern, sizeof(pattern), "/usr/lib/postgresql/*/bin/%s", name);
	if (glob(pattern, 0, NULL, &found) != 0) {
		fprintf(stderr, "skipped: no %s\n", pattern);
		exit(SKIPPED);
	}
	snprintf(path, size, "%s", found.gl_pathv[found.gl_pathc - 1]);
	globfree(&found);
}

/* Postgres refuses to run as root. */
static void drop_root(void)
{
	const struct passwd *user = getuid() == 0 ? getpwnam("postgres") : NULL;
	if (!user)
		return;
	if (setgroups(0, NULL) != 0 || setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0)
		_exit(126);
}

static pid_t spawn(const struct pg_fixture *pg, char *const argv[])
{
	char log[96];
	snprintf(log, sizeof(log), "%s/log", pg->folder);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	if (chdir("/") != 0)
		_exit(126);
	drop_root();
	prctl(PR_SET_PDEATHSIG, SIGQUIT);
	if (!freopen(log, "a", stdout))
		_exit(126);
	dup2(STDOUT_FILENO, STDERR_FILENO);
	execv(argv[0], argv);
	_exit(127);
}

/* Wait until it accepts connections. Blocks. */
static void wait_until_up(const struct pg_fixture *pg)
{
	PGPing answer = PQPING_NO_RESPONSE;
	for (int i = 0; i < 12000 && answer != PQPING_OK; i++) {
		if (i > 0)
			poll(NULL, 0, 10);
		answer = PQping(pg->url);
	}
	assert_int_equal(answer, PQPING_OK);
}

void pg_fixture_start(struct pg_fixture *pg)
{
	char program[128], port[8], data[96];
	find_program("postgres", program, sizeof(program));
	snprintf(port, sizeof(port), "%u", pg->port);
	snprintf(data, sizeof(data), "%s/data", pg->folder);
	char *argv[] = {program, "-D", data, "-p", port, "-k", pg->folder, "-c",
	                "listen_addresses=localhost", "-c", "fsync=off", "-c",
	                "shared_buffers=16MB",
	                /* what deploy/init.sql sets for the roles */
	                "-c", "client_connection_check_interval=1s", "-c", "timezone=UTC", NULL};
	assert_int_equal(pg->pid, 0);
	pg->pid = spawn(pg, argv);
	wait_until_up(pg);
}

/* Run a program to its end. */
static void run(const struct pg_fixture *pg, char *const argv[])
{
	int status;
	pid_t pid = spawn(pg, argv);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Copy $1 to $2, at once, unless another test was first. */
#define PUBLISH "cp -a \"$1\" \"$2.$$\" && mv -T \"$2.$$\" \"$2\" || rm -r \"$2.$$\""

/* The data of a new server. To make it takes ten times as long as to copy what the first test of a
 * run made. */
static void make_data(const struct pg_fixture *pg)
{
	char program[128], data[96];
	const char *made = getenv("POSTGRES_TEMPLATE");
	find_program("initdb", program, sizeof(program));
	snprintf(data, sizeof(data), "%s/data", pg->folder);
	if (made && access(made, F_OK) == 0) {
		run(pg, (char *[]){"/bin/cp", "-a", (char *)made, data, NULL});
		return;
	}
	run(pg, (char *[]){program, "-D", data, "-A", "trust", "-U", "expops", "-N", "-E", "UTF8",
	                   NULL});
	if (made)
		run(pg, (char *[]){"/bin/sh", "-c", PUBLISH, "sh", data, (char *)made, NULL});
}

void pg_fixture_new(struct pg_fixture *pg)
{
	memset(pg, 0, sizeof(*pg));
	scratch_new(pg->folder, "expops-pg");
	const struct passwd *user = getuid() == 0 ? getpwnam("postgres") : NULL;
	if (user)
		assert_int_equal(chown(pg->folder, user->pw_uid, user->pw_gid), 0);
	make_data(pg);
	pg->port = free_port();
	snprintf(pg->url, sizeof(pg->url), "postgresql:///postgres?host=%s&port=%u&user=expops",
	         pg->folder, pg->port);
	snprintf(pg->tcp_url, sizeof(pg->tcp_url), "postgresql://expops@localhost:%u/postgres",
	         pg->port);
	pg_fixture_start(pg);
}

static void pg_fixture_end(struct pg_fixture *pg, int number)
{
	int status;
	if (pg->pid == 0)
		return;
	kill(pg->pid, number);
	assert_int_equal(waitpid(pg->pid, &status, 0), pg->pid);
	pg->pid = 0;
}

void pg_fixture_crash(struct pg_fixture *pg)
{
	pg_fixture_end(pg, SIGQUIT);
}

void pg_fixture_stop(struct pg_fixture *pg)
{
	pg_fixture_end(pg, SIGINT);
}

void pg_fixture_free(struct pg_fixture *pg)
{
	char command[96];
	pg_fixture_crash(pg);
	snprintf(command, sizeof(command), "rm -rf '%s'", pg->folder);
	assert_int_equal(system(command), 0);
}

long pg_fixture_run(const struct pg_fixture *pg, const char *sql)
{
	PGconn *conn = PQconnectdb(pg->url);
	PGresult *result = PQexec(conn, sql);
	ExecStatusType status = PQresultStatus(result);
	if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
		fail_msg("%s: %s", sql, PQerrorMessage(conn));
	long value = PQntuples(result) > 0 ? strtol(PQgetvalue(result, 0, 0), NULL, 10) : 0;
	PQclear(result);
	PQfinish(conn);
	return value;
}
