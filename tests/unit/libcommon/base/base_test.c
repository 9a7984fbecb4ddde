#include "base/base.h"

#include "capture.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct pair {
	char first;
	int second;
};

static void macros_work(void **state attr_unused)
{
	int numbers[7];
	assert_int_equal(ARRAY_LEN(numbers), 7);
	struct pair pair = {0};
	assert_ptr_equal(CONTAINER_OF(&pair.second, struct pair, second), &pair);
	assert_int_equal(MIN_OF(2, 3), 2);
	assert_int_equal(MAX_OF(2, 3), 3);
}

static void require_passes_a_true_condition(void **state attr_unused)
{
	int evaluated = 0;
	require(++evaluated == 1);
	assert_int_equal(evaluated, 1);
}

static void require_aborts_and_names_the_place(void **state attr_unused)
{
	struct capture capture = capture_start(STDERR_FILENO);
	pid_t child = fork();
	if (child == 0) {
		signal(SIGABRT, SIG_DFL); /* cmocka catches it */
		require(1 + 1 == 3);
		_exit(0);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	char text[512];
	capture_stop(&capture, text, sizeof(text));
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
	assert_non_null(strstr(text, "base_test.c:"));
	assert_non_null(strstr(text, "requirement failed: 1 + 1 == 3"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(macros_work),
		cmocka_unit_test(require_passes_a_true_condition),
		cmocka_unit_test(require_aborts_and_names_the_place),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
