#include "implementation/context.h"

#include "arena_fixture.h"
#include "json/json.h"

#include <stdlib.h>
#include <string.h>

static yyjson_val *parse(const char *text)
{
	yyjson_val *root;
	assert_int_equal(json_parse(arena, text, strlen(text), &root, NULL), ERR_NONE);
	return root;
}

/* The context of an experiment with this launch context. */
static yyjson_val *context_of(const char *launch, const struct paper *paper)
{
	struct context_source source = {
		.detail_json = "{\"id\": \"e\"}",
		.experiment = parse(arena_printf(arena,
	                                         "{\"id\": \"e\", \"name\": \"N\", \"hypothesis\": "
	                                         "null, \"launch_context\": %s}",
	                                         launch)),
	};
	yyjson_mut_doc *doc = context_build(arena, &source, paper);
	return parse(json_write_mut(arena, yyjson_mut_doc_get_root(doc), NULL));
}

static void assert_member(yyjson_val *object, const char *name, const char *expected)
{
	yyjson_val *value = json_get(object, name);
	assert_non_null(value);
	assert_string_equal(json_write(arena, value, NULL), expected);
}

#define ASSET                                                                                \
	"{\"arxiv_id\": \"1\", \"title\": \"Indexed\", \"url\": \"https://a/1\", "           \
	"\"abstract\": \"A.\", \"authors\": [\"X Y\", \"Z\"], \"categories\": [\"cs.LG\"], " \
	"\"github_url\": \"https://g\", \"container_status\": \"%s\", \"container_image\": " \
	"\"img\", \"containerfile\": \"FROM x\", \"working_directory\": \"/w\", "            \
	"\"environment_vars\": {\"A\": \"1\"}}"

static struct paper indexed(const char *container_status)
{
	return (struct paper){
		.arxiv_id = "1",
		.asset = parse(arena_printf(arena, ASSET, container_status)),
	};
}

static void unknown_members_are_null(void **state)
{
	(void)state;
	yyjson_val *context = context_of("{}", &(struct paper){0});
	assert_member(context, "experiment", "{\"id\":\"e\"}");
	assert_member(context, "resource", "null");
	assert_member(context, "container", "null");
	assert_member(context, "task_description", "null");
	assert_member(context, "implementation_plan", "null");
	assert_member(context, "missing", "[]");
	assert_non_null(strstr(json_get_text(context, "formatted"), "# N\n"));
}

static void the_index_takes_precedence(void **state)
{
	(void)state;
	struct paper paper = indexed("ready");
	yyjson_val *context = context_of("{\"resource\": {\"title\": \"Mine\"}, "
	                                 "\"container_image\": \"mine\", \"task_description\": "
	                                 "\"T\", \"implementation_plan\": \"P\"}",
	                                 &paper);
	assert_member(context, "resource",
	              "{\"arxiv_id\":\"1\",\"title\":\"Indexed\",\"url\":\"https://a/1\","
	              "\"abstract\":\"A.\",\"authors\":[\"X Y\",\"Z\"],\"categories\":[\"cs.LG\"],"
	              "\"github_url\":\"https://g\"}");
	assert_member(context, "container",
	              "{\"image\":\"img\",\"status\":\"ready\",\"containerfile\":\"FROM x\","
	              "\"working_directory\":\"/w\",\"environment_vars\":{\"A\":\"1\"}}");
	assert_member(context, "task_description", "\"T\"");
	assert_member(context, "implementation_plan", "\"P\"");
	const char *text = json_get_text(context, "formatted");
	assert_non_null(strstr(text, "- Authors: X Y, Z\n"));
	assert_non_null(strstr(text, "- Code: https://g\n"));
}

static void the_launch_context_supplies_what_the_index_lacks(void **state)
{
	(void)state;
	struct paper missing = {.arxiv_id = "1", .missing = "It is missing."};
	yyjson_val *context = context_of(
		"{\"resource\": {\"title\": \"Mine\"}, \"container_image\": \"mine\", "
		"\"code_repository\": \"https://c\", \"key_methods\": [{\"name\": \"m\"}]}",
		&missing);
	assert_member(context, "resource",
	              "{\"arxiv_id\":\"1\",\"title\":\"Mine\",\"url\":\"https://arxiv.org/abs/1\","
	              "\"abstract\":null,\"authors\":[],\"categories\":[],\"github_url\":null}");
	assert_member(context, "container",
	              "{\"image\":\"mine\",\"status\":null,\"containerfile\":null,"
	              "\"working_directory\":null,\"environment_vars\":{}}");
	assert_member(context, "missing", "[\"It is missing.\"]");
	const char *text = json_get_text(context, "formatted");
	assert_non_null(strstr(text, "## Missing\n\n- It is missing.\n"));
	assert_non_null(strstr(text, "- **m**\n"));
	assert_non_null(strstr(text, "- Code: https://c\n"));
}

static void without_a_container_in_the_index_the_named_image_is_used(void **state)
{
	(void)state;
	struct paper paper = indexed("none");
	assert_member(context_of("{}", &paper), "container", "null");
	yyjson_val *own = context_of("{\"container_image\": \"mine\"}", &paper);
	assert_string_equal(json_get_text(json_get(own, "container"), "image"), "mine");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARENA_TEST(unknown_members_are_null),
		ARENA_TEST(the_index_takes_precedence),
		ARENA_TEST(the_launch_context_supplies_what_the_index_lacks),
		ARENA_TEST(without_a_container_in_the_index_the_named_image_is_used),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
