#include "http/api.h"

#include "base/base.h"
#include "crypto/scope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define V "/api/v1.0"

static int setup(void **state)
{
	api_init();
	*state = arena_new();
	return 0;
}

static int teardown(void **state)
{
	arena_free(*state);
	return 0;
}

static enum err_code match(void **state, const char *method, const char *path,
                           struct api_match *ret_match)
{
	return api_match(*state, method, strlen(method), path, strlen(path), ret_match);
}

/* The template with its parameters replaced by "p1", "p2" and so on. */
static const char *path_of(struct arena *arena, const char *template)
{
	struct buf path = {.arena = arena};
	int count = 0;
	for (const char *at = template; *at != '\0'; at++) {
		if (*at != '{') {
			buf_add(&path, at, 1);
			continue;
		}
		buf_printf(&path, "p%d", ++count);
		at = strchr(at, '}');
	}
	return path.data;
}

static void every_operation_is_found(void **state)
{
	for (unsigned id = 0; id < API_ID_COUNT; id++) {
		const struct api_op *op = api_op(id);
		const char *path = path_of(*state, op->path);
		const char *method = strcmp(op->method, "ANY") == 0 ? "PATCH" : op->method;
		struct api_match found;
		assert_int_equal(op->id, id);
		assert_int_equal(match(state, method, path, &found), ERR_NONE);
		assert_ptr_equal(found.op, op);
		for (size_t i = 0; i < found.param_count; i++) {
			const char *name = arena_printf(*state, "%s}", found.params[i].name);
			assert_non_null(strstr(op->path, name));
			assert_string_equal(found.params[i].value,
			                    arena_printf(*state, "p%zu", i + 1));
		}
		assert_int_equal(match(state, "OPTIONS", path, &found) == ERR_METHOD,
		                 strcmp(op->method, "ANY") != 0);
	}
}

static void every_operation_has_a_scope_or_is_open(void **state attr_unused)
{
	for (unsigned id = 0; id < API_ID_COUNT; id++) {
		const struct api_op *op = api_op(id);
		bool has_none = (op->flags & (API_OPEN | API_PROTOCOL)) != 0;
		assert_int_equal(op->scope == SCOPE_NONE, has_none);
		assert_int_equal(!op->scope_name, has_none);
		if (!has_none)
			assert_int_equal(op->scope, scope_mask(op->scope_name));
	}
}

static void head_is_get(void **state)
{
	struct api_match found;
	assert_int_equal(match(state, "HEAD", V "/experiments", &found), ERR_NONE);
	assert_int_equal(found.op->id, API_ID_experiments_list);
	assert_int_equal(match(state, "HEAD", V "/search/assets", &found), ERR_METHOD);
}

static void allow_lists_the_methods(void **state)
{
	struct api_match found;
	assert_int_equal(match(state, "PATCH", V "/experiments/1", &found), ERR_METHOD);
	assert_string_equal(found.allow, "GET, HEAD, PUT, DELETE");
	assert_null(found.op);
	assert_int_equal(match(state, "get", V "/experiments", &found), ERR_METHOD);
	assert_string_equal(found.allow, "GET, HEAD, POST");
	assert_int_equal(match(state, "OPTIONS", "*", &found), ERR_METHOD);
	assert_string_equal(found.allow, "GET, HEAD, POST, PUT, PATCH, DELETE");
	assert_null(found.op);
}

static void literals_win_over_parameters(void **state)
{
	struct api_match found;
	assert_int_equal(match(state, "GET", V "/search/assets/list", &found), ERR_NONE);
	assert_int_equal(found.op->id, API_ID_assets_list);
	assert_int_equal(match(state, "PUT", V "/search/assets/list", &found), ERR_METHOD);
	assert_int_equal(match(state, "GET", V "/search/assets/l%69st", &found), ERR_NONE);
	assert_int_equal(found.op->id, API_ID_assets_list);
	assert_int_equal(match(state, "POST", V "/papers/recommended/digest/feedback", &found),
	                 ERR_NOT_FOUND);
}

static void a_literal_end_is_not_of_the_rest(void **state)
{
	struct api_match found;
	assert_int_equal(match(state, "GET", V "/search/assets/a/b/similar", &found), ERR_NONE);
	assert_int_equal(found.op->id, API_ID_asset_similar_list);
	assert_int_equal(match(state, "HEAD", V "/search/assets/a/s%69milar", &found), ERR_NONE);
	assert_int_equal(found.op->id, API_ID_asset_similar_list);
	assert_int_equal(match(state, "PUT", V "/search/assets/a/similar", &found), ERR_METHOD);
	assert_string_equal(found.allow, "GET, HEAD");
	assert_int_equal(match(state, "GET", V "/search/assets/a%2Fsimilar", &found), ERR_NONE);
	assert_int_equal(found.op->id, API_ID_asset_get);
}

/* A path and the value of its only parameter; NULL: the path is not found. */
static const struct {
	const char *path, *value;
} PATHS[] = {
	{V "/experiments/a", "a"},
	{V "/experiments/a%20b", "a b"},
	{V "/experiments/%41", "A"},
	{V "/experiments/caf%C3%A9", "caf\xc3\xa9"},
	{V "/experiments/...", "..."},
	{V "/experiments/a+b", "a+b"},
	{V "/experiments/%2541", "%41"},
	{V "/search/assets/2401.00001", "2401.00001"},
	{V "/search/assets/hep-th/9901001", "hep-th/9901001"},
	{V "/search/assets/hep-th%2F9901001", "hep-th/9901001"},
	{V "/search/assets/hep-th%2f9901001v2", "hep-th/9901001v2"},
	{V "/search/assets/hep-th/9901001/similar", "hep-th/9901001"},
	{V "/search/assets/hep-th%2F9901001/similar", "hep-th/9901001"},
	{V "/search/assets/hep-th%2F9901001%2Fsimilar", "hep-th/9901001/similar"},
	{V "/search/assets/a/similar/b", "a/similar/b"},
	{V "/search/assets/a/similar/similar", "a/similar"},
	{V "/search/assets/a/similarb", "a/similarb"},
	{V "/search/assets/similar", "similar"},
	{V "/search/assets/similar/similar", "similar"},
	{"/api/v1%2E0/experiments/a", "a"},

	{"", NULL},
	{"/", NULL},
	{"/api", NULL},
	{V, NULL},
	{V "/", NULL},
	{"api/v1.0/experiments/a", NULL},
	{"**", NULL},
	{V "/experiments/", NULL},
	{V "/experiments/a/", NULL},
	{V "/experiments//a", NULL},
	{"/" V "/experiments/a", NULL},
	{V "//experiments/a", NULL},
	{V "/experiments/./a", NULL},
	{V "/experiments/.", NULL},
	{V "/experiments/..", NULL},
	{V "/experiments/%2e", NULL},
	{V "/experiments/%2E%2e", NULL},
	{V "/experiments/.%2e", NULL},
	{V "/x/../experiments/a", NULL},
	{V "/x/%2e%2e/experiments/a", NULL},
	{V "/experiments/a%2Fb", NULL},
	{V "/experiments/a%5Cb", NULL},
	{V "/experiments/a\\b", NULL},
	{V "\\experiments\\a", NULL},
	{V "/experiments/a%00", NULL},
	{V "/experiments/a%0a", NULL},
	{V "/experiments/a%7F", NULL},
	{V "/experiments/a\x01", NULL},
	{V "/experiments/%", NULL},
	{V "/experiments/%4", NULL},
	{V "/experiments/%4g", NULL},
	{V "/experiments/%u0041", NULL},
	{V "/experiments/%-1", NULL},
	{V "/experiments/%C0%AF", NULL},
	{V "/experiments/%C3", NULL},
	{V "/experiments/%ED%A0%80", NULL},
	{V "/experiments/\xff", NULL},
	{"/API/v1.0/experiments/a", NULL},
	{V "/Experiments/a", NULL},
	{V "/experiments;x/a", NULL},
	{V "%2Fexperiments/a", NULL},
	{V "/search/assets/a//b", NULL},
	{V "/search/assets/a/", NULL},
	{V "/search/assets/a%2F", NULL},
	{V "/search/assets/%2Fa", NULL},
	{V "/search/assets/a/../list", NULL},
	{V "/search/assets/a%2F..%2Flist", NULL},
	{V "/search/assets//similar", NULL},
	{V "/search/assets/a//similar", NULL},
	{V "/search/assets/a/../similar", NULL},
	{V "/search/assets/a/similar/", NULL},
	{V "/search/assets/a/%2e%2e", NULL},
	{V "/search/assets/a%2F%2Fb", NULL},
	{V "/search/assets/a%5C..%5Cb", NULL},
};

static void ambiguous_paths_are_not_found(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(PATHS); i++) {
		struct api_match found;
		enum err_code code = match(state, "GET", PATHS[i].path, &found);
		if (code != (PATHS[i].value ? ERR_NONE : ERR_NOT_FOUND))
			fail_msg("'%s' gave %d", PATHS[i].path, code);
		if (code != ERR_NONE) {
			assert_null(found.op);
			continue;
		}
		assert_int_equal(found.param_count, 1);
		assert_string_equal(found.params[0].value, PATHS[i].value);
	}
}

static void a_raw_nul_is_refused(void **state)
{
	static const char PATH[] = V "/experiments/a\0b";
	struct api_match found;
	assert_int_equal(api_match(*state, "GET", 3, PATH, sizeof(PATH) - 1, &found),
	                 ERR_NOT_FOUND);
}

static void gone_paths_match_every_method(void **state)
{
	struct api_match found;
	assert_int_equal(match(state, "OPTIONS", V "/account/tokens/a/b", &found), ERR_NONE);
	assert_true((found.op->flags & API_GONE) != 0);
	assert_int_equal(match(state, "HEAD", V "/account/tokens", &found), ERR_NONE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_operation_is_found),
		TEST(every_operation_has_a_scope_or_is_open),
		TEST(head_is_get),
		TEST(allow_lists_the_methods),
		TEST(literals_win_over_parameters),
		TEST(a_literal_end_is_not_of_the_rest),
		TEST(ambiguous_paths_are_not_found),
		TEST(a_raw_nul_is_refused),
		TEST(gone_paths_match_every_method),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
