#include "evidence/trial.h"

#include "arena_fixture.h"
#include "base/base.h"
#include "json/json.h"

#define DAY_MS ((int64_t)24 * 3600 * 1000)

static void a_pull_request_works_once_it_is_kept(void **state attr_unused)
{
	const int64_t now_ms = 1000 * DAY_MS;
	static const struct {
		const char *stage;
		int64_t days;
		const char *verdict;
	} ROWS[] = {
		{"open", 90, "pending"},  {"closed", 0, "failed"},   {"closed", 90, "failed"},
		{"merged", 0, "pending"}, {"merged", 29, "pending"}, {"merged", 30, "worked"},
		{"merged", 90, "worked"}, {NULL, 90, "pending"},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++)
		assert_string_equal(verdict_of_pull_request(ROWS[i].stage,
		                                            now_ms - ROWS[i].days * DAY_MS, now_ms),
		                    ROWS[i].verdict);
}

/* The graph of one pull request, `u`. */
static struct graph graph_of(const char *data)
{
	struct graph graph;
	graph_init(&graph, arena, json_doc_new(arena));
	const char *node = arena_printf(
		arena, "{\"nodes\": [{\"id\": \"u\", \"kind\": \"pull_request\", \"data\": %s}]}",
		data);
	graph_add(&graph, json_parse_own(arena, node));
	return graph;
}

#define LONG_AGO "\"2020-01-01T00:00:00.000Z\""

static void what_the_code_host_told_counts_before_what_an_experiment_says(void **state attr_unused)
{
	static const struct {
		const char *data;
		bool is_decided;
		const char *verdict; /* of an experiment that says `own` itself */
	} ROWS[] = {
		{"{\"stage\": \"merged\", \"stage_by\": \"code_host\", \"closed_at\": " LONG_AGO
	         "}",
	         false, "worked"},
		{"{\"stage\": \"merged\", \"stage_by\": \"code_host\", \"closed_at\": " LONG_AGO
	         "}",
	         true, "own"},
		{"{\"stage\": \"open\", \"stage_by\": \"code_host\"}", false, "pending"},
		{"{\"stage\": \"open\", \"stage_by\": \"run\"}", false, "own"},
		{"{\"stage\": \"closed\", \"stage_by\": \"experiment\"}", false, "own"},
		{"{\"stage\": \"merged\", \"closed_at\": " LONG_AGO "}", false, "own"},
		{"{\"stage\": \"merged\", \"reverted_at\": " LONG_AGO "}", false, "failed"},
		{"{\"stage\": \"merged\", \"stage_by\": \"code_host\", \"closed_at\": " LONG_AGO
	         ", \"reverted_at\": " LONG_AGO ", \"reapplied_at\": " LONG_AGO "}",
	         false, "worked"},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		struct graph graph = graph_of(ROWS[i].data);
		assert_string_equal(trial_of_experiment(&graph, "u", ROWS[i].is_decided, "own"),
		                    ROWS[i].verdict);
		assert_string_equal(trial_of_experiment(&graph, NULL, false, "own"), "own");
		assert_string_equal(trial_of_experiment(&graph, "other", false, "own"), "own");
	}
}

static void a_paper_has_the_verdicts_of_those_who_tried_it(void **state attr_unused)
{
	static const struct {
		const char *verdicts[4];
		const char *paper;
	} ROWS[] = {
		{{NULL}, "untried"},
		{{"untried"}, "untried"},
		{{"pending", "untried"}, "pending"},
		{{"worked", "pending"}, "worked"},
		{{"pending", "failed", "failed"}, "failed"},
		{{"failed", "pending", "worked"}, "mixed"},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		struct verdict_count count = {0};
		for (size_t j = 0; j < ARRAY_LEN(ROWS[i].verdicts); j++)
			verdict_add(&count, ROWS[i].verdicts[j]);
		assert_string_equal(verdict_of_paper(&count), ROWS[i].paper);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pull_request_works_once_it_is_kept),
		ARENA_TEST(what_the_code_host_told_counts_before_what_an_experiment_says),
		cmocka_unit_test(a_paper_has_the_verdicts_of_those_who_tried_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
