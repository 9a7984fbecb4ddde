#include "report/finding.h"

#include "arena_fixture.h"
#include "json/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define NO_FACTS                                                                               \
	"{\"failures\": [], \"halves\": [{\"cost_usd\": null, \"merged\": 0}, {\"cost_usd\": " \
	"null, \"merged\": 0}], \"rejections\": [], \"unreviewed\": [], \"pools\": [], "       \
	"\"silent\": []}"

/* The findings of facts, as JSON text without their evidence: `severity kind text` in lines. */
static const char *findings_of(const char *sums, const char *facts)
{
	struct finding_facts given = {
		.query = "/api/v1.0/fleet/runs?since=2026-01-01&until=2026-01-31"};
	assert_int_equal(json_parse(arena, sums, strlen(sums), &given.sums, NULL), ERR_NONE);
	assert_int_equal(json_parse(arena, facts, strlen(facts), &given.facts, NULL), ERR_NONE);
	yyjson_mut_doc *doc = json_doc_new(arena);
	yyjson_mut_val *findings = yyjson_mut_arr(doc), *one;
	findings_add(arena, doc, findings, &given);
	const char *text = "";
	size_t i, count;
	yyjson_mut_arr_foreach (findings, i, count, one) {
		assert_non_null(yyjson_mut_obj_get(one, "evidence"));
		text = arena_printf(arena, "%s%s %s %s\n", text,
		                    yyjson_mut_get_str(yyjson_mut_obj_get(one, "severity")),
		                    yyjson_mut_get_str(yyjson_mut_obj_get(one, "kind")),
		                    yyjson_mut_get_str(yyjson_mut_obj_get(one, "text")));
	}
	return text;
}

static const char *of_facts(const char *facts)
{
	return findings_of("{\"gates\": []}", facts);
}

static void test_no_facts_no_findings(void **state)
{
	(void)state;
	assert_string_equal(of_facts(NO_FACTS), "");
	assert_string_equal(of_facts("{}"), "");
}

static void test_repeated_failures_are_critical_from_ten(void **state)
{
	(void)state;
	assert_string_equal(of_facts("{\"failures\": [{\"repo\": \"a/b\", \"cause\": "
	                             "\"tests fail\", \"runs\": 9, "
	                             "\"run_ids\": [1]}, {\"repo\": \"a/c\", \"cause\": "
	                             "\"no space\", \"runs\": 10, "
	                             "\"run_ids\": [2]}]}"),
	                    "critical repeated_failure 10 runs failed for one reason: no space\n"
	                    "warning repeated_failure 9 runs failed for one reason: tests fail\n");
}

static void test_rising_cost(void **state)
{
	(void)state;
	static const char *const NONE[] = {
		/* 1.0 to 1.4 */
		"{\"halves\": [{\"cost_usd\": 3, \"merged\": 3}, {\"cost_usd\": 4.2, \"merged\": "
		"3}]}",
		/* too few merged */
		"{\"halves\": [{\"cost_usd\": 3, \"merged\": 3}, {\"cost_usd\": 40, \"merged\": "
		"2}]}",
		/* unknown cost */
		"{\"halves\": [{\"cost_usd\": null, \"merged\": 3}, {\"cost_usd\": 40, \"merged\": "
		"3}]}",
	};
	for (size_t i = 0; i < sizeof(NONE) / sizeof(NONE[0]); i++)
		assert_string_equal(of_facts(NONE[i]), "");
	assert_string_equal(
		of_facts("{\"halves\": [{\"cost_usd\": 3, \"merged\": 3}, {\"cost_usd\": 6, "
	                 "\"merged\": 4}]}"),
		"warning rising_cost a merged pull request cost 1.50 USD in the second half of the "
		"period, 1.00 USD in the first\n");
}

static void test_costs_that_stand_out(void **state)
{
	(void)state;
	assert_string_equal(
		of_facts("{\"spikes\": [{\"repo\": \"a/b\", \"title\": \"a run was dear\"}, "
	                 "{\"repo\": null, \"title\": \"a day was\"}], "
	                 "\"differing\": [{\"agent\": null, \"model\": \"m\", \"runs\": 3, "
	                 "\"told_usd\": 1.5, \"estimated_usd\": 2}]}"),
		"warning cost_spike a run was dear\n"
		"warning cost_spike a day was\n"
		"warning cost_differs 3 runs of an agent with m reported 1.50 USD; by the list of "
		"prices their tokens cost 2.00 USD\n");
}

static void test_rejections_matter_more_when_the_papers_were_merged(void **state)
{
	(void)state;
	assert_string_equal(
		of_facts("{\"rejections\": [{\"reason\": \"too broad\", \"times\": 12, "
	                 "\"run_ids\": [1], "
	                 "\"merged_later\": []}, {\"reason\": \"no code\", \"times\": 11, "
	                 "\"run_ids\": "
	                 "[2], \"merged_later\": [\"2205.14135\"]}]}"),
		"warning repeated_rejection candidates were rejected 11 times because: no code; 1 "
		"of "
		"these papers became a merged pull request\n"
		"info repeated_rejection candidates were rejected 12 times because: too broad\n");
}

static void test_a_gate_that_never_stops(void **state)
{
	(void)state;
	assert_string_equal(
		findings_of(
			"{\"gates\": [{\"gate\": \"lint_status\", \"passed\": 50, \"stopped\": 0}, "
			"{\"gate\": \"test_status\", \"passed\": 500, \"stopped\": 1}, {\"gate\": "
			"\"license_compat\", \"passed\": 49, \"stopped\": 0}]}",
			NO_FACTS),
		"info gate_never_stops the gate lint_status let all 50 runs pass\n");
}

static void test_silent_agents_and_unreviewed_pull_requests(void **state)
{
	(void)state;
	assert_string_equal(
		of_facts("{\"silent\": [{\"repo\": \"a/b\", \"runs\": 3, \"last_run_at\": "
	                 "\"2026-01-02T03:04:05.000Z\"}], \"unreviewed\": [{\"repo\": \"a/b\", "
	                 "\"url\": "
	                 "\"u\", \"run_id\": 1, \"opened_at\": \"2026-01-03T03:04:05.000Z\"}]}"),
		"warning silent_agent the agent of a/b has not run since 2026-01-02\n"
		"warning unreviewed_pull_request a pull request is open since 2026-01-03\n");
}

static void test_a_pool_is_dry_when_half_of_three_runs_were(void **state)
{
	(void)state;
	assert_string_equal(
		of_facts("{\"pools\": [{\"repo\": \"a/b\", \"runs\": 10, \"dry\": 5, \"run_ids\": "
	                 "[1]}, {\"repo\": \"a/c\", \"runs\": 10, \"dry\": 4, \"run_ids\": [1]}, "
	                 "{\"repo\": \"a/d\", \"runs\": 2, \"dry\": 2, \"run_ids\": [1]}]}"),
		"warning dry_pool 5 of the last 10 runs of a/b found fewer than 3 candidates\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARENA_TEST(test_no_facts_no_findings),
		ARENA_TEST(test_repeated_failures_are_critical_from_ten),
		ARENA_TEST(test_rising_cost),
		ARENA_TEST(test_costs_that_stand_out),
		ARENA_TEST(test_rejections_matter_more_when_the_papers_were_merged),
		ARENA_TEST(test_a_gate_that_never_stops),
		ARENA_TEST(test_silent_agents_and_unreviewed_pull_requests),
		ARENA_TEST(test_a_pool_is_dry_when_half_of_three_runs_were),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
