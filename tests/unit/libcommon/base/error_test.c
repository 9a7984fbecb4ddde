#include "base/error.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void every_code_has_a_row(void **state attr_unused)
{
	for (int code = ERR_NONE; code < ERR_COUNT; code++) {
		const struct err_info *info = err_info((enum err_code)code);
		assert_non_null(info->slug);
		assert_non_null(info->title);
		assert_true(strlen(info->title) > 0);
		assert_true(strlen(info->detail) > 0);
		assert_int_equal(strspn(info->slug, "abcdefghijklmnopqrstuvwxyz_"),
		                 strlen(info->slug));
		assert_int_equal(info->class == ERR_CLASS_NONE, code == ERR_NONE);
		if (code != ERR_NONE)
			assert_in_range(info->status, 400, 599);
	}
}

static void slugs_are_unique(void **state attr_unused)
{
	for (int a = 0; a < ERR_COUNT; a++) {
		for (int b = a + 1; b < ERR_COUNT; b++)
			assert_string_not_equal(err_info((enum err_code)a)->slug,
			                        err_info((enum err_code)b)->slug);
	}
}

/* Clients and operators depend on numbers, statuses and slugs: they must never change. */
static void codes_are_stable(void **state attr_unused)
{
	static const struct {
		int code, number, status;
		const char *slug;
	} ROWS[] = {
		{ERR_INVALID, 1, 400, "invalid_request"},
		{ERR_UNAUTHENTICATED, 3, 401, "invalid_token"},
		{ERR_SCOPE, 4, 403, "insufficient_scope"},
		{ERR_NOT_FOUND, 6, 404, "not_found"},
		{ERR_METHOD, 7, 405, "method_not_allowed"},
		{ERR_IN_PROGRESS, 9, 409, "request_in_progress"},
		{ERR_TOO_LARGE, 12, 413, "content_too_large"},
		{ERR_IDEMPOTENCY_REUSED, 14, 422, "idempotency_key_reused"},
		{ERR_RATE_LIMITED, 15, 429, "rate_limited"},
		{ERR_HEAD_TOO_LARGE, 16, 431, "header_fields_too_large"},
		{ERR_TARGET_TOO_LONG, 28, 414, "uri_too_long"},
		{ERR_INTERNAL, 17, 500, "internal_error"},
		{ERR_UNAVAILABLE, 20, 503, "unavailable"},
		{ERR_UNCERTAIN, 21, 503, "outcome_uncertain"},
		{ERR_CONTENTION, 29, 503, "contention"},
		{ERR_TIMEOUT, 22, 504, "timeout"},
		{ERR_REQUEST_TIMEOUT, 24, 408, "request_timeout"},
		{ERR_AGENT_PAUSED, 35, 409, "agent_paused"},
		{ERR_BUDGET_REACHED, 38, 409, "budget_reached"},
		{ERR_LAST_OWNER, 39, 409, "last_owner"},
		{ERR_OTHER_EMAIL, 40, 403, "other_email"},
		{ERR_TOO_MANY_INVITATIONS, 41, 409, "too_many_invitations"},
		{ERR_MIXED_TEMPLATES, 43, 400, "mixed_templates"},
		{ERR_ACCOUNT_CHANGED, 44, 409, "account_changed"},
		{ERR_NOT_CONFIGURED, 25, 409, "provider_not_configured"},
		{ERR_EXPECTATION, 26, 417, "expectation_failed"},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		const struct err_info *info = err_info((enum err_code)ROWS[i].code);
		assert_int_equal(ROWS[i].code, ROWS[i].number);
		assert_int_equal(info->status, ROWS[i].status);
		assert_string_equal(info->slug, ROWS[i].slug);
	}
}

static void unknown_codes_are_internal_errors(void **state attr_unused)
{
	static const int UNKNOWN[] = {ERR_COUNT, ERR_COUNT + 1, -1, INT32_MAX, INT32_MIN};
	for (size_t i = 0; i < ARRAY_LEN(UNKNOWN); i++)
		assert_ptr_equal(err_info((enum err_code)UNKNOWN[i]), err_info(ERR_INTERNAL));
}

static void classes_answer_what_callers_ask(void **state attr_unused)
{
	static const struct {
		enum err_code code;
		bool is_final, is_transient, is_undone;
	} ROWS[] = {
		{ERR_NONE, false, false, false},       {ERR_INVALID, true, false, true},
		{ERR_NOT_FOUND, true, false, true},    {ERR_CONFLICT, true, false, true},
		{ERR_RATE_LIMITED, false, true, true}, {ERR_UNAVAILABLE, false, true, true},
		{ERR_CONTENTION, false, true, true},   {ERR_UNCERTAIN, false, true, false},
		{ERR_TIMEOUT, false, false, false},    {ERR_UPSTREAM, false, false, false},
		{ERR_INTERNAL, false, false, false},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		assert_int_equal(err_is_final(ROWS[i].code), ROWS[i].is_final);
		assert_int_equal(err_is_transient(ROWS[i].code), ROWS[i].is_transient);
		assert_int_equal(err_is_undone(ROWS[i].code), ROWS[i].is_undone);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_code_has_a_row),
		cmocka_unit_test(slugs_are_unique),
		cmocka_unit_test(codes_are_stable),
		cmocka_unit_test(unknown_codes_are_internal_errors),
		cmocka_unit_test(classes_answer_what_callers_ask),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
