#include "base/timefmt.h"
#include "pg/pg.h"
#include "pg_fixture.h"
#include "worker_fixture.h"

static struct pg_fixture server;
static struct worker_fixture fixture;

/* Calls of one channel's callback. */
struct received {
	int connected;
	int count;
	char last[100];
};

static int setup(void **state)
{
	(void)state;
	pg_fixture_new(&server);
	fixture_start(&fixture);
	fixture.worker.pg =
		pg_pool_new(&fixture.worker.loop, &(struct pg_settings){.url = server.url});
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	pg_pool_free(fixture.worker.pg);
	fixture_stop(&fixture);
	pg_fixture_free(&server);
	return 0;
}

static void on_notification(void *context, const char *payload)
{
	struct received *received = context;
	if (!payload) {
		received->connected++;
		return;
	}
	received->count++;
	snprintf(received->last, sizeof(received->last), "%s", payload);
}

static void until(const int *counter, int count)
{
	uint64_t late_ms = time_monotonic_ms() + FIXTURE_TIMEOUT_MS;
	while (*counter < count && time_monotonic_ms() < late_ms)
		uv_run(&fixture.worker.loop, UV_RUN_ONCE);
	assert_int_equal(*counter, count);
}

static void test_a_channel_gets_its_notifications(void **state)
{
	(void)state;
	struct received a = {0}, b = {0}, late = {0};
	pg_listen(fixture.worker.pg, "Ünlikely name", on_notification, &a);
	pg_listen(fixture.worker.pg, "outbox_shop", on_notification, &b);
	until(&a.connected, 1);
	until(&b.connected, 1);
	pg_fixture_run(&server, "NOTIFY outbox_shop, 'one'");
	until(&b.count, 1);
	assert_string_equal(b.last, "one");
	assert_int_equal(a.count, 0);
	pg_fixture_run(&server, "NOTIFY \"Ünlikely name\"");
	until(&a.count, 1);
	assert_string_equal(a.last, "");
	/* A channel that is added while the connection is open. */
	pg_listen(fixture.worker.pg, "late", on_notification, &late);
	until(&late.connected, 1);
	pg_fixture_run(&server, "NOTIFY late, 'x'");
	until(&late.count, 1);
	assert_int_equal(a.connected + b.connected, 2);
}

/* After a loss each channel gets a NULL payload and listens again. */
static void test_channels_listen_again_after_a_loss(void **state)
{
	(void)state;
	struct received a = {0}, b = {0};
	pg_listen(fixture.worker.pg, "a", on_notification, &a);
	pg_listen(fixture.worker.pg, "b", on_notification, &b);
	until(&a.connected, 1);
	until(&b.connected, 1);
	pg_fixture_crash(&server);
	pg_fixture_start(&server);
	until(&a.connected, 2);
	until(&b.connected, 2);
	pg_fixture_run(&server, "NOTIFY a, 'again'; NOTIFY b, 'again'");
	until(&a.count, 1);
	until(&b.count, 1);
	assert_string_equal(a.last, "again");
	pg_fixture_run(&server,
	               "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE "
	               "'LISTEN%'");
	until(&a.connected, 3);
	until(&b.connected, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_channel_gets_its_notifications, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(test_channels_listen_again_after_a_loss, setup,
	                                        teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
