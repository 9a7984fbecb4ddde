#include "agent/analysis.h"

#include "arena_fixture.h"
#include "json/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static yyjson_val *parse(const char *text)
{
	yyjson_val *value = NULL;
	assert_int_equal(json_parse(arena, text, strlen(text), &value, NULL), ERR_NONE);
	return value;
}

static struct analysis analyse(yyjson_mut_doc *doc, const char *record, const char *gates,
                               const char *stage)
{
	struct analysis_source source = {parse(record), parse(gates), stage};
	return run_analysis(arena, doc, &source);
}

static void assert_cause(const char *record, const char *gates, const char *stage,
                         const char *cause)
{
	assert_string_equal(analyse(json_doc_new(arena), record, gates, stage).cause, cause);
}

#define STOPPED(gate) "[{\"name\": \"" gate "\", \"status\": \"stopped\", \"detail\": \"failed\"}]"
#define FAILED        "{\"status\": \"failed\", \"outcome_kind\": \"failed\"}"

static void test_the_gate_that_stopped_a_failed_run_is_its_cause(void **state)
{
	(void)state;
	assert_cause(FAILED, "[]", NULL, "The run failed.");
	assert_cause(FAILED, STOPPED("test_status"), NULL,
	             "The repository's tests failed on the change.");
	assert_cause(FAILED, STOPPED("lint_status"), NULL, "The linter refused the change.");
	assert_cause(FAILED, STOPPED("license_compat"), NULL,
	             "The license of the paper's code does not go with the repository's.");
}

static void test_what_was_opened_is_the_cause_of_a_good_end(void **state)
{
	(void)state;
	static const char OPENED[] =
		"{\"status\": \"pr_opened\", \"outcome_kind\": \"pull_request\"}";
	assert_cause(OPENED, "[]", "open",
	             "The run opened a pull request, which waits for a review.");
	assert_cause(OPENED, STOPPED("test_status"), "open",
	             "The run opened a pull request, which waits for a review.");
	assert_cause(OPENED, "[]", "merged", "The pull request of the run was merged.");
	assert_cause(OPENED, "[]", "closed", "What the run opened was closed without a merge.");
}

static void test_a_dry_pool_is_told_apart(void **state)
{
	(void)state;
	assert_cause("{\"status\": \"skipped_x\", \"outcome_kind\": \"skipped\", "
	             "\"broad_pool_size\": 2}",
	             "[]", NULL, "There were too few candidates to choose from.");
	assert_cause("{\"status\": \"skipped_x\", \"outcome_kind\": \"skipped\", "
	             "\"broad_pool_size\": 3}",
	             "[]", NULL, "The agent found nothing worth changing.");
}

static void test_every_outcome_has_a_rule(void **state)
{
	(void)state;
	static const char *const KINDS[] = {"pull_request", "issue",  "branch",
	                                    "skipped",      "failed", "running"};
	for (size_t i = 0; i < sizeof(KINDS) / sizeof(KINDS[0]); i++) {
		const char *record = arena_printf(arena, "{\"outcome_kind\": \"%s\"}", KINDS[i]);
		const char *cause = analyse(json_doc_new(arena), record, "[]", NULL).cause;
		assert_null(strstr(cause, "has no rule"));
	}
	assert_cause("{\"outcome_kind\": \"other\"}", "[]", NULL,
	             "The run ended with a status that has no rule.");
}

static void test_evidence_names_its_fields_and_is_bounded(void **state)
{
	(void)state;
	char error[1000];
	memset(error, 'e', sizeof(error) - 1);
	error[sizeof(error) - 1] = '\0';
	memcpy(error + 298, "ü", strlen("ü")); /* the cut is inside of it */
	yyjson_mut_doc *doc = json_doc_new(arena);
	const char *record = arena_printf(
		arena, "{\"status\": \"failed\", \"outcome_kind\": \"failed\", \"error\": \"%s\"}",
		error);
	struct analysis analysis = analyse(doc, record, STOPPED("test_status"), NULL);
	assert_int_equal(yyjson_mut_arr_size(analysis.evidence), 3);
	assert_string_equal(yyjson_mut_get_str(yyjson_mut_arr_get(analysis.evidence, 0)),
	                    "status: failed");
	assert_string_equal(yyjson_mut_get_str(yyjson_mut_arr_get(analysis.evidence, 2)),
	                    "test_status: failed");
	const char *cited = yyjson_mut_get_str(yyjson_mut_arr_get(analysis.evidence, 1));
	assert_int_equal(strlen(cited), strlen("error: ") + 300 + strlen("…"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARENA_TEST(test_the_gate_that_stopped_a_failed_run_is_its_cause),
		ARENA_TEST(test_what_was_opened_is_the_cause_of_a_good_end),
		ARENA_TEST(test_a_dry_pool_is_told_apart),
		ARENA_TEST(test_every_outcome_has_a_rule),
		ARENA_TEST(test_evidence_names_its_fields_and_is_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
