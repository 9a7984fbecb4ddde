#include "http/internal_api.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct internal_op *match(enum api_service service, const char *method,
                                       const char *path)
{
	return internal_match(service, method, strlen(method), path, strlen(path));
}

static void operations_are_found_by_method_and_path(void **state attr_unused)
{
	const struct internal_op *op = match(API_SEARCH, "POST", "/internal/assets/lookup");
	assert_ptr_equal(op, internal_op(INTERNAL_ID_assets_lookup));
	assert_string_equal(op->name, "assets_lookup");
	assert_true(op->body_max_bytes > 0);
	assert_null(match(API_SEARCH, "GET", "/internal/assets/lookup"));
	assert_null(match(API_SEARCH, "POST", "/internal/assets/lookup/"));
	assert_null(match(API_SEARCH, "POST", "/internal/assets/looku"));
	assert_null(match(API_INTERESTS, "POST", "/internal/assets/lookup"));
}

/* Each row is below /internal/ and for services other than the one that serves it. The gateway asks
 * for what every service has, and whether invitations can be mailed. */
static void every_row_is_for_other_services(void **state attr_unused)
{
	for (int id = 0; id < INTERNAL_ID_COUNT; id++) {
		const struct internal_op *op = internal_op(id);
		assert_int_equal(op->id, id);
		assert_int_equal(strncmp(op->path, "/internal/", 10), 0);
		assert_int_equal(internal_op_is_allowed(op, API_GATEWAY),
		                 op->service == API_EVERY || id == INTERNAL_ID_mail_status_get);
		if (op->service != API_EVERY)
			assert_false(internal_op_is_allowed(op, op->service));
		assert_true(op->callers);
	}
}

static void only_listed_services_may_use_an_operation(void **state attr_unused)
{
	const struct internal_op *lookup = internal_op(INTERNAL_ID_assets_lookup);
	const struct api_op *get = api_op(API_ID_asset_get);
	assert_true(internal_op_is_allowed(lookup, API_INTERESTS));
	assert_false(internal_op_is_allowed(lookup, API_FLEET));
	assert_true(api_op_is_allowed(get, API_GATEWAY));
	assert_true(api_op_is_allowed(get, API_EXPERIMENTS));
	assert_false(api_op_is_allowed(get, API_INTERESTS));
	assert_false(api_op_is_allowed(api_op(API_ID_asset_put), API_EXPERIMENTS));
}

static void services_call_those_whose_operations_they_may_use(void **state attr_unused)
{
	assert_true(api_service_may_call(API_GATEWAY, API_SEARCH));
	assert_false(api_service_may_call(API_GATEWAY, API_GATEWAY));
	assert_true(api_service_may_call(API_INTERESTS, API_SEARCH));
	assert_true(api_service_may_call(API_EXPERIMENTS, API_SEARCH));
	assert_true(api_service_may_call(API_EXPERIMENTS, API_INTERESTS));
	assert_true(api_service_may_call(API_SEARCH, API_INTERESTS));
	assert_false(api_service_may_call(API_SEARCH, API_EXPERIMENTS));
	assert_true(api_service_may_call(API_INTERESTS, API_GATEWAY));
	assert_false(api_service_may_call(API_SEARCH, API_GATEWAY));
}

static void processes_have_names(void **state attr_unused)
{
	enum api_service service;
	assert_string_equal(api_service_name(API_GATEWAY), "gateway");
	for (int i = 0; i < API_SERVICE_COUNT; i++) {
		const char *name = api_service_name(i);
		assert_true(api_service_find(name, strlen(name), &service));
		assert_int_equal(service, i);
	}
	assert_false(api_service_find("svc-searc", 9, &service));
	assert_false(api_service_find("svc-search2", 11, &service));
	assert_false(api_service_find("", 0, &service));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operations_are_found_by_method_and_path),
		cmocka_unit_test(every_row_is_for_other_services),
		cmocka_unit_test(only_listed_services_may_use_an_operation),
		cmocka_unit_test(services_call_those_whose_operations_they_may_use),
		cmocka_unit_test(processes_have_names),
	};
	api_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
