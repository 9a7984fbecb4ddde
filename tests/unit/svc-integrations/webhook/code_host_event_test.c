#include "webhook/code_host_event.h"

#include "arena_fixture.h"
#include "base/base.h"
#include "json/json.h"

#include <string.h>

#define REPO "\"repository\":{\"id\":9,\"full_name\":\"Acme/Ranker\"}"

#define PULL_REQUEST                                                                           \
	"{\"action\":\"closed\"," REPO ",\"installation\":{\"id\":5},\"pull_request\":{"       \
	"\"number\":7,\"html_url\":\"https://github.com/Acme/Ranker/pull/7\",\"merged\":true," \
	"\"state\":\"closed\",\"head\":{\"ref\":\"expops/agent\"},"                            \
	"\"updated_at\":\"2026-01-31T10:30:00+01:00\"}}"

static struct code_host_events read(const char *event, const char *text)
{
	return code_host_events_read(arena, event, "delivery-1", text, strlen(text));
}

static yyjson_val *event_at(const struct code_host_events *found, size_t at)
{
	yyjson_val *events;
	assert_int_equal(json_parse(arena, found->json, strlen(found->json), &events, NULL),
	                 ERR_NONE);
	return yyjson_arr_get(events, at);
}

/* The data of the only event, as text. */
static const char *data_of(const char *event, const char *text)
{
	struct code_host_events found = read(event, text);
	assert_null(found.ignored);
	assert_int_equal(found.count, 1);
	return json_write(arena, json_get(event_at(&found, 0), "data"), NULL);
}

static void a_pull_request_is_read(void **state)
{
	(void)state;
	assert_string_equal(
		data_of("pull_request", PULL_REQUEST),
		"{\"event\":\"pull_request\",\"action\":\"closed\",\"repo\":\"Acme/Ranker\","
		"\"number\":7,\"url\":\"https://github.com/Acme/Ranker/pull/7\","
		"\"state\":\"closed\",\"merged\":true,\"branch\":\"expops/agent\","
		"\"run_id\":null,\"workflow\":null,\"conclusion\":null,\"occurred_at\":\"2026-01-"
		"31T09:30:00.000Z\",\"commit\":null,\"reverts\":null,"
		"\"repository_id\":9,\"installation_id\":5,\"delivery_id\":\"delivery-1\"}");
}

static void a_workflow_run_is_read(void **state)
{
	(void)state;
	assert_string_equal(
		data_of("workflow_run",
	                "{\"action\":\"completed\"," REPO
	                ",\"workflow_run\":{\"id\":30433642,\"status\":"
	                "\"completed\",\"conclusion\":\"success\",\"head_branch\":\"main\","
	                "\"path\":\".github/workflows/expops.yml@main\","
	                "\"html_url\":\"https://github.com/r\",\"updated_at\":1767225600}}"),
		"{\"event\":\"workflow_run\",\"action\":\"completed\",\"repo\":\"Acme/Ranker\","
		"\"number\":null,\"url\":\"https://github.com/r\",\"state\":\"completed\","
		"\"merged\":null,\"branch\":\"main\",\"run_id\":30433642,"
		"\"workflow\":\"expops.yml\",\"conclusion\":"
		"\"success\",\"occurred_at\":\"2026-01-01T00:00:00.000Z\","
		"\"commit\":null,\"reverts\":null,\"repository_id\":9,\"installation_id\":null,"
		"\"delivery_id\":\"delivery-1\"}");
}

static void a_push_is_of_a_branch(void **state)
{
	(void)state;
	const char *text = data_of("push", "{\"ref\":\"refs/heads/a/b\"," REPO "}");
	assert_non_null(strstr(text, "\"action\":null"));
	assert_non_null(strstr(text, "\"branch\":\"a/b\""));
	struct code_host_events tag = read("push", "{\"ref\":\"refs/tags/v1\"," REPO "}");
	assert_string_equal(tag.ignored, "ref is missing or has another form");
}

#define SHA "6dcb09b5b57875f334f61aebed695e2e4193db5e"
#define ON_MAIN \
	"\"repository\":{\"id\":9,\"full_name\":\"Acme/Ranker\",\"default_branch\":\"main\"}"

static const char *reverts_in_push(const char *branch, const char *message)
{
	const char *text =
		data_of("push",
	                arena_printf(arena,
	                             "{\"ref\":\"refs/heads/%s\"," ON_MAIN ",\"after\":\"" SHA
	                             "\",\"head_commit\":{\"id\":\"" SHA "\",\"message\":\"%s\"}}",
	                             branch, message));
	assert_non_null(strstr(text, "\"commit\":\"" SHA "\""));
	return strstr(text, "\"reverts\":");
}

#define REVERTS(target, by) \
	"\"reverts\":[{\"target\":\"" target "\",\"by\":\"" by "\"}],\"repository_id\""
#define NO_REVERTS "\"reverts\":null,"

static void assert_begins(const char *text, const char *start)
{
	assert_string_equal(arena_strndup(arena, text, strlen(start)), start);
}

static void commits_revert_what_they_say(void **state)
{
	(void)state;
	assert_begins(reverts_in_push("main", "Revert \\\"x\\\"\\n\\nThis reverts commit " SHA "."),
	              REVERTS(SHA, SHA));
	assert_begins(reverts_in_push("main", "Revert x (#9)\\r\\n\\r\\nReverts acme/RANKER#7"),
	              REVERTS("#7", SHA));
	static const char *const NOTHING[] = {"This reverts commit 6dcb09b.",
	                                      "It Reverts #7",
	                                      "Reverts other/ranker#7",
	                                      "Reverts #0",
	                                      "Reverts #7 and #8",
	                                      "Reverts #7x",
	                                      "Reverts #",
	                                      "Reverts",
	                                      "This reverts commit",
	                                      "Reverts ranker#7",
	                                      ""};
	for (size_t i = 0; i < ARRAY_LEN(NOTHING); i++)
		assert_begins(reverts_in_push("main", NOTHING[i]), NO_REVERTS);
	assert_begins(reverts_in_push("topic", "Reverts #7"), NO_REVERTS);
}

#define BY_BUTTON     "\"title\":\"Mend it\",\"body\":\"Reverts #7\""
#define BY_GIT(title) "\"title\":\"" title "\",\"body\":\"This reverts commit " SHA ".\""

/* `words`: title and body. */
static const char *reverts_of_pull_request(const char *action, const char *merged, const char *base,
                                           const char *words)
{
	const char *text = data_of(
		"pull_request",
		arena_printf(arena,
	                     "{\"action\":\"%s\"," ON_MAIN
	                     ",\"pull_request\":{\"number\":9,\"state\":\"closed\",\"merged\":%s,"
	                     "\"base\":{\"ref\":\"%s\"},%s,\"updated_at\":"
	                     "\"2026-01-31T09:30:00Z\"}}",
	                     action, merged, base, words));
	return strstr(text, "\"reverts\":");
}

static void a_merge_reverts_what_its_pull_request_says(void **state)
{
	(void)state;
	assert_begins(reverts_of_pull_request("closed", "true", "main", BY_BUTTON),
	              REVERTS("#7", "#9"));
	assert_begins(reverts_of_pull_request("closed", "false", "main", BY_BUTTON), NO_REVERTS);
	assert_begins(reverts_of_pull_request("closed", "true", "topic", BY_BUTTON), NO_REVERTS);
}

/* After its merge anybody who may edit it could write these words. */
static void a_merged_pull_request_that_is_edited_reverts_nothing(void **state)
{
	(void)state;
	static const char *const ACTIONS[] = {"edited", "labeled", "synchronize"};
	for (size_t i = 0; i < ARRAY_LEN(ACTIONS); i++)
		assert_begins(reverts_of_pull_request(ACTIONS[i], "true", "main", BY_BUTTON),
		              NO_REVERTS);
}

static const char *reverts_of_merge(const char *words)
{
	return reverts_of_pull_request("closed", "true", "main", words);
}

static void a_pull_request_that_quotes_a_commit_reverts_nothing(void **state)
{
	(void)state;
	assert_begins(reverts_of_merge(BY_GIT("Revert \\\"Rank\\\"")), REVERTS(SHA, "#9"));
	assert_begins(reverts_of_merge(BY_GIT("Reapply \\\"Rank\\\"")), REVERTS(SHA, "#9"));
	assert_begins(reverts_of_merge(BY_GIT("Tell of reverts")), NO_REVERTS);
	assert_begins(reverts_of_merge(BY_GIT("Revert to the old ranking")), NO_REVERTS);
	assert_begins(reverts_of_merge("\"body\":\"This reverts commit " SHA ".\""), NO_REVERTS);
}

static const char *lane_of(const char *event, const char *text)
{
	struct code_host_events found = read(event, text);
	return json_get_text(event_at(&found, 0), "lane");
}

static void the_lane_is_the_repository_or_the_installation(void **state)
{
	(void)state;
	assert_string_equal(lane_of("pull_request", PULL_REQUEST), "acme/ranker");
	assert_string_equal(lane_of("installation",
	                            "{\"action\":\"deleted\",\"installation\":{\"id\":5}}"),
	                    "installation 5");
}

static const char *id_of(const char *delivery, const char *event, const char *text)
{
	struct code_host_events found =
		code_host_events_read(arena, event, delivery, text, strlen(text));
	return json_get_text(event_at(&found, 0), "id");
}

#define ISSUE(installation, state)                                                                 \
	"{\"action\":\"labeled\"," REPO installation ",\"issue\":{\"number\":1,\"state\":\"" state \
	"\",\"updated_at\":\"2026-01-31T09:30:00Z\"}}"

/* The id of an event does not depend on the webhook that brought it. */
static void a_fact_has_one_id(void **state)
{
	(void)state;
	const char *id = id_of("one", "issues", ISSUE("", "open"));
	assert_string_equal(id,
	                    id_of("two", "issues", ISSUE(",\"installation\":{\"id\":5}", "open")));
	assert_int_equal(id[14], '8'); /* the version */
	assert_string_not_equal(id, id_of("one", "issues", ISSUE("", "closed")));
}

/* Two such facts can be equal in all that they say. */
static void without_a_time_each_delivery_is_a_fact(void **state)
{
	static const char PUSH[] = "{\"ref\":\"refs/heads/main\"," REPO "}";
	(void)state;
	assert_string_not_equal(id_of("one", "push", PUSH), id_of("two", "push", PUSH));
}

static void an_installation_makes_an_event_for_each_repository(void **state)
{
	(void)state;
	struct code_host_events found = read(
		"installation_repositories",
		"{\"action\":\"removed\",\"installation\":{\"id\":5},\"repositories_removed\":["
		"{\"full_name\":\"a/b\"},{\"id\":9,\"full_name\":\"c/d\"},{\"full_name\":7},null,"
		"\"e/f\"]}");
	assert_int_equal(found.count, 2);
	assert_true(found.is_installation_changed);
	assert_int_equal(found.installation, 5);
	assert_string_equal(found.changed_repos, "[\"a/b\",\"c/d\"]");
	yyjson_val *data = json_get(event_at(&found, 1), "data");
	assert_string_equal(json_get_text(data, "repo"), "c/d");
	assert_int_equal(json_get_int(data, "repository_id", 0), 9);
	assert_string_equal(found.repositories, "[{\"number\":9,\"name\":\"c/d\"}]");
}

static void a_renamed_repository_has_two_names(void **state)
{
	(void)state;
	struct code_host_events found =
		read("repository",
	             "{\"action\":\"renamed\",\"repository\":{\"id\":9,\"full_name\":\"acme/new\","
	             "\"name\":\"new\",\"updated_at\":\"2026-01-31T10:30:00+01:00\",\"owner\":{"
	             "\"login\":\"acme\"}},\"changes\":{\"repository\":{\"name\":{\"from\":"
	             "\"old\"}}}}");
	assert_string_equal(found.repositories,
	                    "[{\"number\":9,\"name\":\"acme/new\",\"former\":\"acme/old\",\"at\":"
	                    "\"2026-01-31T09:30:00.000Z\",\"is_rename\":true}]");
	assert_string_equal(found.changed_repos, "[\"acme/new\",\"acme/old\"]");
	assert_false(found.is_installation_changed);
}

/* What is there in another form than expected is left out. */
static void optional_members_of_another_form_are_null(void **state)
{
	static const char *const VALUES[] = {"null", "true",      "-1",
	                                     "1.5",  "[]",        "{}",
	                                     "\"\"", "\"a\\nb\"", "\"javascript:1\""};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(VALUES); i++) {
		const char *text =
			data_of("push",
		                arena_printf(arena,
		                             "{\"ref\":\"refs/heads/main\"," REPO
		                             ",\"compare\":%s,\"installation\":{\"id\":%s}}",
		                             VALUES[i], VALUES[i]));
		assert_non_null(strstr(text, "\"url\":null,"));
		assert_non_null(strstr(text, "\"installation_id\":null"));
	}
}

static const struct {
	const char *event, *text, *reason;
} IGNORED[] = {
	{"star", "", "events of this kind are not used"},
	{"issues", "", "the content is not valid JSON"},
	{"issues", "[]", "the content is not an object"},
	{"issues", "{}", "action is missing"},
	{"issues", "{\"action\":1}", "action is missing"},
	{"issues", "{\"action\":\"Opened!\"}", "action is missing"},
	{"issues", "{\"action\":\"opened\",\"repository\":\"a/b\"}", "repository.full_name is"},
	{"issues", "{\"action\":\"opened\",\"repository\":{\"full_name\":\"../..\"}}",
         "repository.full_name is"},
	{"issues", "{\"action\":\"opened\"," REPO "}", "issue.number is"},
	{"issues", "{\"action\":\"opened\"," REPO ",\"issue\":{\"number\":9007199254740993}}",
         "issue.number is"},
	{"issues", "{\"action\":\"pinned\"," REPO ",\"issue\":{\"number\":1}}", "issue.state is"},
	{"issues", "{\"action\":\"opened\"," REPO ",\"issue\":{\"number\":1,\"state\":\"open\"}}",
         "issue.updated_at is"},
	{"workflow_run",
         "{\"action\":\"completed\"," REPO ",\"workflow_run\":{\"id\":\"1\","
         "\"status\":\"queued\",\"updated_at\":1}}",
         "workflow_run.id is"},
	{"installation", "{\"action\":\"deleted\"}", "installation.id is"},
	{"installation", "{\"action\":\"deleted\",\"installation\":{\"id\":-5}}",
         "installation.id is"},
};

static void what_says_nothing_is_ignored_with_a_reason(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(IGNORED); i++) {
		struct code_host_events found = read(IGNORED[i].event, IGNORED[i].text);
		assert_non_null(found.ignored);
		assert_non_null(strstr(found.ignored, IGNORED[i].reason));
		assert_int_equal(found.count, 0);
		assert_string_equal(found.json, "[]");
	}
}

static void names_have_a_form(void **state)
{
	(void)state;
	assert_true(delivery_id_is_valid("72d3162e-cc78-11e3-81ab-4c9367dc0958"));
	assert_false(delivery_id_is_valid(""));
	assert_false(delivery_id_is_valid("a b"));
	char long_id[DELIVERY_ID_MAX + 2];
	memset(long_id, 'a', sizeof(long_id));
	long_id[DELIVERY_ID_MAX + 1] = '\0';
	assert_false(delivery_id_is_valid(long_id));
	assert_true(delivery_id_is_valid(long_id + 1));
	assert_true(code_host_name_is_valid("pull_request"));
	assert_false(code_host_name_is_valid("Pull"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARENA_TEST(a_pull_request_is_read),
		ARENA_TEST(a_workflow_run_is_read),
		ARENA_TEST(a_push_is_of_a_branch),
		ARENA_TEST(commits_revert_what_they_say),
		ARENA_TEST(a_merge_reverts_what_its_pull_request_says),
		ARENA_TEST(a_merged_pull_request_that_is_edited_reverts_nothing),
		ARENA_TEST(a_pull_request_that_quotes_a_commit_reverts_nothing),
		ARENA_TEST(the_lane_is_the_repository_or_the_installation),
		ARENA_TEST(a_fact_has_one_id),
		ARENA_TEST(without_a_time_each_delivery_is_a_fact),
		ARENA_TEST(an_installation_makes_an_event_for_each_repository),
		ARENA_TEST(a_renamed_repository_has_two_names),
		ARENA_TEST(optional_members_of_another_form_are_null),
		ARENA_TEST(what_says_nothing_is_ignored_with_a_reason),
		ARENA_TEST(names_have_a_form),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
