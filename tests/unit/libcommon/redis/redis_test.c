#include "redis/redis.h"

#include "fake_names.h"
#include "loop/wait.h"
#include "redis/fault.h"
#include "redis_fixture.h"
#include "tls/trust.h"
#include "worker_fixture.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#define words(...) \
	(const char *const[]){__VA_ARGS__}, ARRAY_LEN(((const char *const[]){__VA_ARGS__}))

static struct worker_fixture fixture;
static struct redis_fixture server;
static struct certificate_files certificate; /* of a server for `localhost` */
static struct tls_trust *trust;              /* in it */

static void start_fixture(void)
{
	redis_fixture_start(&server);
	fixture_start(&fixture);
}

static int setup(void **state)
{
	(void)state;
	redis_fixture_new(&server, NULL);
	start_fixture();
	fixture.worker.redis = redis_new(&fixture.worker.loop, server.url, NULL);
	return 0;
}

static int setup_tls(void **state)
{
	(void)state;
	redis_fixture_new(&server, NULL);
	server.certificate = &certificate;
	snprintf(server.url, sizeof(server.url), "rediss://localhost:%u", server.tls_port);
	start_fixture();
	fixture.worker.redis = redis_new(&fixture.worker.loop, server.url, trust);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	redis_free(fixture.worker.redis);
	fixture_stop(&fixture);
	redis_fixture_free(&server);
	return 0;
}

static void replies_of_each_type(struct request *rq)
{
	struct redis_value *value = redis_words(rq, "GET", "absent");
	assert_int_equal(value->type, REDIS_NIL);
	value = redis_words(rq, "SET", "key", "a text");
	assert_int_equal(value->type, REDIS_TEXT);
	assert_string_equal(value->text, "OK");
	value = redis_words(rq, "APPEND", "key", "!");
	assert_int_equal(value->type, REDIS_INTEGER);
	assert_int_equal(value->integer, 7);
	redis_words(rq, "SETRANGE", "key", "8", "x");
	value = redis_words(rq, "GET", "key");
	assert_int_equal(value->length, 9);
	assert_memory_equal(value->text, "a text!\0x", 10);
	value = redis_words(rq, "EVAL", "return {1, {'a', false}, {}}", "0");
	assert_int_equal(value->type, REDIS_LIST);
	assert_int_equal(value->count, 3);
	assert_int_equal(value->items[0].integer, 1);
	assert_string_equal(value->items[1].items[0].text, "a");
	assert_int_equal(value->items[1].items[1].type, REDIS_NIL);
	assert_int_equal(value->items[2].type, REDIS_LIST);
	assert_int_equal(value->items[2].count, 0);
	assert_int_equal(redis_try(rq, &value, words("INCR", "key")), ERR_NONE);
	assert_int_equal(value->type, REDIS_ERROR);
	assert_non_null(strstr(value->text, "not an integer"));
	*(bool *)rq->user = true;
}

static void test_replies_of_each_type(void **state)
{
	(void)state;
	bool is_done = false;
	fixture_run(&fixture, replies_of_each_type, &is_done);
	assert_true(is_done);
}

#define LARGE_BYTES (3 << 20) /* more than a socket takes, and many records of TLS */

static void large_reply(struct request *rq)
{
	char *text = malloc(LARGE_BYTES + 1);
	assert_non_null(text);
	for (size_t i = 0; i < LARGE_BYTES; i++)
		text[i] = (char)('a' + i % 23);
	text[LARGE_BYTES] = '\0';
	redis_words(rq, "SET", "large", text);
	const struct redis_value *value = redis_words(rq, "GET", "large");
	assert_int_equal(value->length, LARGE_BYTES);
	assert_memory_equal(value->text, text, LARGE_BYTES);
	free(text);
	*(bool *)rq->user = true;
}

static void test_a_large_reply(void **state)
{
	(void)state;
	bool is_done = false;
	fixture_run(&fixture, large_reply, &is_done);
	assert_true(is_done);
}

static enum err_code raised;

static void note_raised(struct request *rq)
{
	raised = rq->problem.code;
}

static void wrong_type(struct request *rq)
{
	redis_words(rq, "LPUSH", "list", "x");
	redis_words(rq, "INCR", "list");
}

static void test_an_error_reply_is_raised(void **state)
{
	(void)state;
	raised = ERR_NONE;
	request_spawn(&fixture.worker, "test", FIXTURE_TIMEOUT_MS, wrong_type, note_raised, NULL);
	fixture_idle(&fixture);
	assert_int_equal(raised, ERR_INTERNAL);
}

/* A server that cannot do it now, and its words for the client. */
static const struct refusal {
	const char *setting, *value, *normal; /* of CONFIG SET */
	const char *detail;
} REFUSALS[] = {
	{"maxmemory", "1", "0", "the message store is full"},
	{"min-replicas-to-write", "1", "0", "the message store is unavailable"},
};

static void write_refused(struct request *rq)
{
	const struct refusal *row = rq->user;
	redis_words(rq, "CONFIG", "SET", row->setting, row->value);
	redis_words(rq, "SET", "key", "text");
}

static void script_refused(struct request *rq)
{
	redis_words(rq, "EVAL", "return redis.call('SET', 'key', 'text')", "0");
}

static void accept_again(struct request *rq)
{
	const struct refusal *row = rq->user;
	redis_words(rq, "CONFIG", "SET", row->setting, row->normal);
	redis_words(rq, "SET", "key", "text");
}

static void note_refusal(struct request *rq)
{
	const struct refusal *row = rq->user;
	assert_int_equal(rq->problem.code, ERR_UNAVAILABLE);
	assert_string_equal(rq->problem.detail, row->detail);
}

static void test_a_full_server_is_unavailable(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(REFUSALS); i++) {
		request_fn *const refused[] = {write_refused, script_refused};
		for (size_t j = 0; j < ARRAY_LEN(refused); j++) {
			request_spawn(&fixture.worker, "test", FIXTURE_TIMEOUT_MS, refused[j],
			              note_refusal, (void *)&REFUSALS[i]);
			fixture_idle(&fixture);
		}
		raised = ERR_INTERNAL;
		request_spawn(&fixture.worker, "test", FIXTURE_TIMEOUT_MS, accept_again,
		              note_raised, (void *)&REFUSALS[i]);
		fixture_idle(&fixture);
		assert_int_equal(raised, ERR_NONE);
	}
}

static int64_t client_id(struct request *rq)
{
	struct redis_value *value = NULL;
	while (redis_try(rq, &value, words("CLIENT", "ID")) != ERR_NONE)
		fiber_sleep(rq, 1);
	return value->integer;
}

static void write_to_a_replica(struct request *rq)
{
	struct redis_value *value;
	int64_t before = client_id(rq);
	redis_words(rq, "REPLICAOF", "127.0.0.1", "1");
	assert_int_equal(redis_try(rq, &value, words("SET", "key", "text")), ERR_UNAVAILABLE);
	assert_int_not_equal(client_id(rq), before);
}

/* The old master goes on to answer after a failover; the name may lead to another server by
 * now. */
static void test_the_connection_to_a_replica_is_replaced(void **state)
{
	(void)state;
	fixture_run(&fixture, write_to_a_replica, NULL);
}

static void test_faults_of_error_replies(void **state)
{
	(void)state;
	static const struct {
		const char *error, *summary;
	} ROWS[] = {
		{"OOM command not allowed when used memory > 'maxmemory'.",
	         "Redis is out of memory: maxmemory"},
		{"ERR Error running script (call to f_1): @user_script:1: @user_script: 1: -OOM "
	         "command not allowed when used memory > 'maxmemory'.",
	         "Redis is out of memory: maxmemory"},
		{"ERR Error running script (call to f_1): @user_script:12: -OOM command not "
	         "allowed",
	         "Redis is out of memory: maxmemory"},
		{"MISCONF Redis is configured to save RDB snapshots",
	         "Redis cannot write to its disk"},
		{"NOAUTH Authentication required.",
	         "Redis requires a password, and REDIS_URL has none"},
		{"WRONGPASS invalid username-password pair",
	         "Redis refuses the login in REDIS_URL"},
		{"LOADING Redis is loading the dataset in memory", "Redis is loading its data"},
		{"READONLY You can't write against a read only replica.",
	         "Redis is a read-only replica"},
		{"ERR unknown command", NULL},
		{"WRONGTYPE Operation against a key", NULL},
		{"NOGROUP No such key", NULL},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		const struct fault *fault = redis_fault_of(ROWS[i].error);
		assert_true(!fault == !ROWS[i].summary);
		if (fault)
			assert_string_equal(fault->summary, ROWS[i].summary);
	}
}

#define MANY 500
static int64_t counted[MANY];

static void count_one(struct request *rq)
{
	*(int64_t *)rq->user = redis_words(rq, "INCR", "counter")->integer;
}

static void count_clients(struct request *rq)
{
	const char *list = redis_words(rq, "CLIENT", "LIST")->text;
	for (; (list = strchr(list, '\n')); list++)
		++*(int *)rq->user;
}

/* The commands are sent before the connection is ready: all use one connection, in order. */
static void test_hundreds_of_fibers_share_a_connection(void **state)
{
	(void)state;
	int clients = 0;
	for (int i = 0; i < MANY; i++)
		request_spawn(&fixture.worker, "test", FIXTURE_TIMEOUT_MS, count_one, NULL,
		              &counted[i]);
	fixture_idle(&fixture);
	for (int i = 0; i < MANY; i++)
		assert_int_equal(counted[i], i + 1);
	fixture_run(&fixture, count_clients, &clients);
	assert_int_equal(clients, 1);
	assert_true(redis_is_ready(fixture.worker.redis));
}

static void ping_code(struct request *rq)
{
	struct redis_value *value;
	*(enum err_code *)rq->user = redis_try(rq, &value, words("PING"));
}

static enum err_code ping(void)
{
	enum err_code code = ERR_INTERNAL;
	fixture_run(&fixture, ping_code, &code);
	return code;
}

static void ping_until_up(void)
{
	while (ping() != ERR_NONE)
		fixture_turn(&fixture);
}

static void test_commands_fail_until_the_server_is_back(void **state)
{
	(void)state;
	redis_fixture_kill(&server);
	assert_int_equal(ping(), ERR_UNAVAILABLE);
	assert_int_equal(ping(), ERR_UNAVAILABLE);
	assert_false(redis_is_ready(fixture.worker.redis));
	redis_fixture_start(&server);
	ping_until_up();
	redis_fixture_kill(&server);
	fixture_wait_start(&fixture);
	while (redis_is_ready(fixture.worker.redis))
		fixture_turn(&fixture);
	redis_fixture_start(&server);
	ping_until_up();
}

/* Of two addresses the first does not serve, and the name is gone before the second is tried. */
static void test_a_name_that_is_gone_ends_the_attempt(void **state)
{
	(void)state;
	struct fake_names names;
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t length = sizeof(address);
	char url[64];
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), connection = -1;
	enum err_code code = ERR_NONE;
	assert_int_equal(inet_pton(AF_INET, "127.0.0.2", &address.sin_addr), 1);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, length), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &length), 0);
	fake_names_start(&names);
	fake_names_set(&names, "redis.test", "127.0.0.2 127.0.0.3");
	snprintf(url, sizeof(url), "redis://redis.test:%u", ntohs(address.sin_port));
	redis_free(fixture.worker.redis);
	fixture.worker.redis = redis_new(&fixture.worker.loop, url, NULL);
	request_spawn(&fixture.worker, "test", FIXTURE_TIMEOUT_MS, ping_code, NULL, &code);
	fixture_wait_start(&fixture);
	while ((connection = accept(listener, NULL, NULL)) < 0)
		fixture_turn(&fixture);
	fake_names_set(&names, "redis.test", "");
	close(connection);
	fixture_idle(&fixture);
	assert_int_equal(code, ERR_UNAVAILABLE);
	close(listener);
	fake_names_stop(&names);
}

static struct redis_blocking *blocking;

static void pop(struct request *rq)
{
	struct redis_value *value;
	*(enum err_code *)rq->user =
		redis_blocking_try(rq, blocking, &value, words("BLPOP", "queue", "0"));
}

static void count_blocked(struct request *rq)
{
	const char *info = redis_words(rq, "INFO", "clients")->text;
	const char *at = strstr(info, "blocked_clients:");
	*(int *)rq->user = at[strlen("blocked_clients:")] - '0';
}

static void wait_for_blocked(int count)
{
	int blocked;
	fixture_wait_start(&fixture);
	do {
		blocked = -1;
		request_spawn(&fixture.worker, "test", FIXTURE_TIMEOUT_MS, count_blocked, NULL,
		              &blocked);
		while (blocked == -1)
			fixture_turn(&fixture);
	} while (blocked != count);
}

static void test_killing_the_server_fails_a_blocked_command(void **state)
{
	(void)state;
	enum err_code code = ERR_NONE;
	blocking = redis_blocking_new(fixture.worker.redis);
	request_spawn(&fixture.worker, "test", FIXTURE_TIMEOUT_MS, pop, NULL, &code);
	wait_for_blocked(1);
	redis_fixture_kill(&server);
	fixture_idle(&fixture);
	assert_int_equal(code, ERR_UNAVAILABLE);
	redis_blocking_free(blocking);
}

static void test_a_cancelled_fiber_leaves_no_blocked_client(void **state)
{
	(void)state;
	enum err_code code = ERR_NONE;
	blocking = redis_blocking_new(fixture.worker.redis);
	struct request *rq = fixture_spawn(&fixture, pop, NULL, &code);
	wait_for_blocked(1);
	fiber_cancel(rq->fiber, ERR_CLIENT_GONE);
	fixture_idle(&fixture);
	assert_int_equal(code, ERR_CLIENT_GONE);
	wait_for_blocked(0);
	redis_blocking_free(blocking);
}

/* The reply comes after the fiber and its arena were freed and must not use them. */
static void test_a_reply_for_a_cancelled_fiber_is_dropped(void **state)
{
	(void)state;
	enum err_code code = ERR_NONE;
	ping_until_up();
	struct request *rq = fixture_spawn(&fixture, ping_code, NULL, &code);
	fiber_cancel(rq->fiber, ERR_CLIENT_GONE);
	fiber_run_ready();
	assert_int_equal(code, ERR_CLIENT_GONE);
	assert_int_equal(request_list_count(fixture.worker.requests), 0);
	assert_int_equal(ping(), ERR_NONE);
}

static struct {
	char text[128];
	bool is_up, is_down, is_message;
} received;

static void on_message(void *context, const char *message, size_t length, bool is_up)
{
	assert_ptr_equal(context, &received);
	if (message) {
		assert_int_equal(strlen(message), length);
		size_t used = strlen(received.text);
		snprintf(received.text + used, sizeof(received.text) - used, "%s", message);
		received.is_message = true;
	}
	received.is_up = is_up;
	received.is_down = !is_up;
}

static void test_a_subscription_continues_after_a_restart(void **state)
{
	(void)state;
	memset(&received, 0, sizeof(received));
	redis_subscribe(fixture.worker.redis, "news", on_message, &received);
	fixture_until(&fixture, &received.is_up);
	ping_until_up();
	redis_publish(fixture.worker.redis, "news", "one,");
	redis_publish(fixture.worker.redis, "other", "no,");
	fixture_until(&fixture, &received.is_message);
	redis_fixture_kill(&server);
	fixture_until(&fixture, &received.is_down);
	received.is_message = false;
	redis_fixture_start(&server);
	fixture_until(&fixture, &received.is_up);
	ping_until_up();
	redis_publish(fixture.worker.redis, "news", "two");
	fixture_until(&fixture, &received.is_message);
	assert_string_equal(received.text, "one,two");
}

static void use_db(struct request *rq)
{
	redis_words(rq, "SET", "here", "1");
	const char *keys = redis_words(rq, "INFO", "keyspace")->text;
	*(bool *)rq->user = strstr(keys, "db3:keys=1") != NULL;
}

static void test_password_and_database(void **state)
{
	(void)state;
	char url[128];
	bool is_there = false;
	redis_free(fixture.worker.redis);
	redis_fixture_kill(&server);
	server.password = "pa:ss";
	redis_fixture_start(&server);
	snprintf(url, sizeof(url), "redis://:pa%%3ass@localhost:%u/3", server.port);
	fixture.worker.redis = redis_new(&fixture.worker.loop, url, NULL);
	fixture_run(&fixture, use_db, &is_there);
	assert_true(is_there);
	redis_free(fixture.worker.redis);
	snprintf(url, sizeof(url), "redis://:wrong@127.0.0.1:%u", server.port);
	fixture.worker.redis = redis_new(&fixture.worker.loop, url, NULL);
	assert_int_equal(ping(), ERR_UNAVAILABLE);
}

static void test_freeing_a_connecting_client(void **state)
{
	(void)state;
	enum err_code code = ERR_NONE;
	redis_free(fixture.worker.redis);
	fixture.worker.redis = redis_new(&fixture.worker.loop, "redis://localhost:1", NULL);
	request_spawn(&fixture.worker, "test", FIXTURE_TIMEOUT_MS, ping_code, NULL, &code);
	redis_free(fixture.worker.redis);
	fixture.worker.redis = NULL;
	fixture_idle(&fixture);
	assert_int_equal(code, ERR_UNAVAILABLE);
	assert_null(redis_new(&fixture.worker.loop, "redis://:@", NULL));
}

/* A server that greets as one of another version, in a process of its own; it answers nothing
 * else. */
static pid_t serve_version(const char *path, const char *hello)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, 16), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid > 0) {
		close(listener);
		return pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		char buffer[512];
		int client = accept(listener, NULL, NULL);
		if (read(client, buffer, sizeof(buffer)) > 0 &&
		    write(client, hello, strlen(hello)) > 0 && write(client, "+PONG\r\n", 7) > 0)
			while (read(client, buffer, sizeof(buffer)) > 0)
				;
		close(client);
	}
}

#define HELLO(version) "*4\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$6\r\n" version "\r\n"

static void test_servers_before_6_2_are_refused(void **state)
{
	(void)state;
	static const struct {
		const char *hello;
		bool is_refused;
	} CASES[] = {
		{HELLO("6.0.16"), true},
		{HELLO("5.9.99"), true},
		{"-ERR unknown command `HELLO`, with args beginning with: \r\n", true},
		{HELLO("6.2.14"), false},
		{HELLO("10.0.1"), false},
		{"-NOPERM this user has no permissions to run the 'hello' command\r\n", false},
	};
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		char path[96], url[128];
		snprintf(path, sizeof(path), "%s/old-%zu", server.folder, i);
		snprintf(url, sizeof(url), "unix:%s", path);
		pid_t pid = serve_version(path, CASES[i].hello);
		redis_free(fixture.worker.redis);
		fixture.worker.redis = redis_new(&fixture.worker.loop, url, NULL);
		fixture_wait_start(&fixture);
		while (!redis_is_ready(fixture.worker.redis) &&
		       !redis_unsupported_reason(fixture.worker.redis))
			fixture_turn(&fixture);
		uv_timer_stop(&fixture.tick);
		assert_int_equal(redis_unsupported_reason(fixture.worker.redis) != NULL,
		                 CASES[i].is_refused);
		assert_int_equal(redis_is_ready(fixture.worker.redis), !CASES[i].is_refused);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

static enum err_code ping_at(const char *url, struct tls_trust *authorities)
{
	redis_free(fixture.worker.redis);
	fixture.worker.redis = redis_new(&fixture.worker.loop, url, authorities);
	return ping();
}

static void note_refusal_of_certificate(void *context, const char *summary)
{
	*(bool *)context |= strcmp(summary, "the certificate of Redis is refused") == 0;
}

static struct tls_trust *trust_in(const char *file)
{
	struct arena *arena = arena_new();
	struct tls_trust *made;
	const char *reason;
	const struct tls_trust_files files = {.setting = "REDIS_CA_FILE", .file = file};
	assert_int_equal(tls_trust_new(&files, arena, &made, &reason), ERR_NONE);
	arena_free(arena);
	return made;
}

static void test_a_server_that_is_not_verified_is_refused(void **state)
{
	(void)state;
	bool is_refused = false;
	char url[64], folder[SCRATCH_PATH_MAX];
	scratch_new(folder, "tls");
	const struct certificate_files other = certificate_make(folder);
	struct tls_trust *in_other = trust_in(other.certificate);
	assert_int_equal(ping_at(server.url, trust), ERR_NONE);
	redis_faults_recent(note_refusal_of_certificate, &is_refused);
	assert_false(is_refused);
	assert_int_equal(ping_at(server.url, in_other), ERR_UNAVAILABLE);
	redis_faults_recent(note_refusal_of_certificate, &is_refused);
	assert_true(is_refused);
	snprintf(url, sizeof(url), "rediss://127.0.0.1:%u", server.tls_port);
	assert_int_equal(ping_at(url, trust), ERR_UNAVAILABLE);
	assert_int_equal(ping_at(server.url, trust), ERR_NONE);
	redis_free(fixture.worker.redis);
	fixture.worker.redis = NULL;
	fixture_idle(&fixture);
	tls_trust_free(in_other);
	assert_int_equal(remove(other.certificate) || remove(other.key) || remove(folder), 0);
}

static char folder_of_all[SCRATCH_PATH_MAX];

static int make_certificate(void **state)
{
	(void)state;
	scratch_new(folder_of_all, "tls");
	certificate = certificate_make(folder_of_all);
	trust = trust_in(certificate.certificate);
	return 0;
}

static int remove_certificate(void **state)
{
	(void)state;
	tls_trust_free(trust);
	return remove(certificate.certificate) || remove(certificate.key) || remove(folder_of_all);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_replies_of_each_type),
		CASE(test_a_large_reply),
		CASE(test_an_error_reply_is_raised),
		CASE(test_a_full_server_is_unavailable),
		CASE(test_the_connection_to_a_replica_is_replaced),
		CASE(test_faults_of_error_replies),
		CASE(test_hundreds_of_fibers_share_a_connection),
		CASE(test_commands_fail_until_the_server_is_back),
		CASE(test_a_name_that_is_gone_ends_the_attempt),
		CASE(test_killing_the_server_fails_a_blocked_command),
		CASE(test_a_cancelled_fiber_leaves_no_blocked_client),
		CASE(test_a_reply_for_a_cancelled_fiber_is_dropped),
		CASE(test_a_subscription_continues_after_a_restart),
		CASE(test_password_and_database),
		CASE(test_servers_before_6_2_are_refused),
		CASE(test_freeing_a_connecting_client),
	};
#define TLS_CASE(name) cmocka_unit_test_setup_teardown(name, setup_tls, teardown)
	const struct CMUnitTest by_tls[] = {
		TLS_CASE(test_replies_of_each_type),
		TLS_CASE(test_a_large_reply),
		TLS_CASE(test_the_connection_to_a_replica_is_replaced),
		TLS_CASE(test_hundreds_of_fibers_share_a_connection),
		TLS_CASE(test_commands_fail_until_the_server_is_back),
		TLS_CASE(test_killing_the_server_fails_a_blocked_command),
		TLS_CASE(test_a_cancelled_fiber_leaves_no_blocked_client),
		TLS_CASE(test_a_reply_for_a_cancelled_fiber_is_dropped),
		TLS_CASE(test_a_subscription_continues_after_a_restart),
		TLS_CASE(test_a_server_that_is_not_verified_is_refused),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	return failed + cmocka_run_group_tests(by_tls, make_certificate, remove_certificate);
}
