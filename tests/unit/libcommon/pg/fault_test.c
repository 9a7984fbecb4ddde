#include "pg/fault.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_codes_of_sqlstates(void **state)
{
	(void)state;
	static const struct {
		const char *sqlstate;
		enum err_code code;
	} ROWS[] = {
		{"23505", ERR_CONFLICT},    {"23P01", ERR_CONFLICT},    {"23503", ERR_INVALID},
		{"23514", ERR_INVALID},     {"23502", ERR_INVALID},     {"22P02", ERR_INVALID},
		{"22012", ERR_INVALID},     {"40001", ERR_CONTENTION},  {"40P01", ERR_CONTENTION},
		{"55P03", ERR_CONTENTION},  {"54000", ERR_INVALID},     {"57014", ERR_TIMEOUT},
		{"57P01", ERR_UNAVAILABLE}, {"57P03", ERR_UNAVAILABLE}, {"53300", ERR_UNAVAILABLE},
		{"08006", ERR_UNAVAILABLE}, {"42P01", ERR_INTERNAL},    {"42601", ERR_INTERNAL},
		{"40002", ERR_INTERNAL},    {"", ERR_INTERNAL},         {"53100", ERR_UNAVAILABLE},
		{"53200", ERR_UNAVAILABLE}, {"28P01", ERR_UNAVAILABLE}, {"3D000", ERR_UNAVAILABLE},
		{"25006", ERR_UNAVAILABLE}, {"25P03", ERR_UNAVAILABLE}, {"58030", ERR_UNAVAILABLE},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++)
		assert_int_equal(pg_fault_of_sqlstate(ROWS[i].sqlstate)->code, ROWS[i].code);
}

/* Each of these has words of its own, for the client and for the operator. */
static void test_faults_of_the_server_are_told_apart(void **state)
{
	(void)state;
	static const char *const SQLSTATES[] = {"08006", "25006", "28P01", "3D000",
	                                        "53000", "53100", "53200", "53300",
	                                        "57P01", "57P03", "58030"};
	for (size_t i = 0; i < ARRAY_LEN(SQLSTATES); i++) {
		const struct fault *fault = pg_fault_of_sqlstate(SQLSTATES[i]);
		assert_non_null(fault->summary);
		for (size_t j = 0; j < i; j++) {
			const struct fault *other = pg_fault_of_sqlstate(SQLSTATES[j]);
			assert_string_not_equal(fault->summary, other->summary);
			assert_string_not_equal(fault->detail, other->detail);
		}
	}
}

static void test_the_sqlstate_of_a_refused_connection(void **state)
{
	(void)state;
	static const struct {
		const char *message, *sqlstate;
	} ROWS[] = {
		{"connection to server at \"127.0.0.1\", port 5432 failed: FATAL:  53300: sorry, "
	         "too "
	         "many clients already",
	         "53300"},
		{"FATAL:  28P01: password authentication failed for user \"a:  b\"", "28P01"},
		{"connection to server at \"::1\", port 1 failed: Connection refused", ""},
		{"FATAL:  the text of an old server", ""},
		{"FATAL:  ABCDEFG: longer", ""},
		{"", ""},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		char sqlstate[6] = "?";
		const struct fault *fault = pg_fault_of_message(ROWS[i].message, sqlstate);
		assert_string_equal(sqlstate, ROWS[i].sqlstate);
		assert_ptr_equal(fault, sqlstate[0] ? pg_fault_of_sqlstate(sqlstate)
		                                    : pg_fault(PG_FAULT_UNREACHABLE));
	}
}

static void test_each_code_has_a_sentence(void **state)
{
	(void)state;
	static const enum err_code CODES[] = {ERR_INVALID,     ERR_CONFLICT,  ERR_CONTENTION,
	                                      ERR_UNAVAILABLE, ERR_UNCERTAIN, ERR_TIMEOUT,
	                                      ERR_CLIENT_GONE};
	for (size_t i = 0; i < ARRAY_LEN(CODES); i++)
		assert_int_equal(pg_fault_of_code(CODES[i])->code, CODES[i]);
	assert_ptr_equal(pg_fault_of_code(ERR_SCOPE), pg_fault(PG_FAULT_INTERNAL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_codes_of_sqlstates),
		cmocka_unit_test(test_faults_of_the_server_are_told_apart),
		cmocka_unit_test(test_the_sqlstate_of_a_refused_connection),
		cmocka_unit_test(test_each_code_has_a_sentence),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
