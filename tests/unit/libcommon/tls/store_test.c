#include "tls/store.h"

#include "capture.h"
#include "certificate.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define RETRY_MS 30000

static char folder[SCRATCH_PATH_MAX];
static struct certificate_files files;
static struct tls_store *store; /* the only one: its paths are labels of metrics */
static uint64_t now_ms = 1000;  /* of the store */

/* A change is taken when it is seen for the second time. Returns whether it was. */
static bool check_takes(void)
{
	uint64_t before = tls_store_generation(store);
	tls_store_check(store, now_ms);
	tls_store_check(store, now_ms);
	return tls_store_generation(store) > before;
}

/* Change the mode, in another tick of the clock of the file system than the last change. */
static void change_mode(const char *path, mode_t mode)
{
	struct stat before, after;
	assert_int_equal(stat(path, &before), 0);
	do {
		assert_int_equal(chmod(path, mode), 0);
		assert_int_equal(stat(path, &after), 0);
	} while (after.st_ctim.tv_sec == before.st_ctim.tv_sec &&
	         after.st_ctim.tv_nsec == before.st_ctim.tv_nsec);
}

static void new_files_are_taken_once(void **state)
{
	(void)state;
	assert_false(check_takes());
	files = certificate_make(folder);
	assert_true(check_takes());
	now_ms += RETRY_MS;
	assert_false(check_takes());
}

static void a_corrected_mode_is_noticed(void **state)
{
	(void)state;
	change_mode(files.key, 0644);
	assert_false(check_takes());
	change_mode(files.key, 0640);
	assert_true(check_takes());
}

/* While no file can be opened, which the files do not show. */
static void a_failed_read_is_tried_again(void **state)
{
	(void)state;
	struct rlimit old, few;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	few = old;
	few.rlim_cur = 3;
	files = certificate_make(folder);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_false(check_takes());
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	now_ms += RETRY_MS - 1;
	assert_false(check_takes());
	now_ms++;
	assert_true(check_takes());
}

/* Also when it is met again by a retry. */
static void a_fault_is_logged_once(void **state)
{
	(void)state;
	static const char FAULT[] = "is open to all users (mode 644); chmod 640 it";
	char log[4096];
	struct capture output = capture_start(STDOUT_FILENO);
	change_mode(files.key, 0644);
	assert_false(check_takes());
	now_ms += RETRY_MS;
	assert_false(check_takes());
	capture_stop(&output, log, sizeof(log));
	const char *first = strstr(log, FAULT);
	assert_non_null(first);
	assert_null(strstr(first + 1, FAULT));
	change_mode(files.key, 0640);
	assert_true(check_takes());
}

static int start(void **state)
{
	(void)state;
	scratch_new(folder, "tls");
	files = certificate_make(folder);
	const struct tls_settings settings = {
		.certificates = files.certificate,
		.keys = files.key,
		.min_version = "1.2",
	};
	struct arena *arena = arena_new();
	const char *reason;
	assert_int_equal(tls_store_new(&settings, arena, &store, &reason), ERR_NONE);
	arena_free(arena);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	tls_store_free(store);
	return remove(files.certificate) || remove(files.key) || remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(new_files_are_taken_once),
		cmocka_unit_test(a_corrected_mode_is_noticed),
		cmocka_unit_test(a_failed_read_is_tried_again),
		cmocka_unit_test(a_fault_is_logged_once),
	};
	return cmocka_run_group_tests(tests, start, stop);
}
