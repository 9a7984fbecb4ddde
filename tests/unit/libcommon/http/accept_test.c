#include "http/accept.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char *const OFFERS[] = {"application/json", "application/x-bibtex", "text/csv"};

#define NONE HTTP_ACCEPT_NONE

static const struct {
	const char *values[2]; /* of Accept fields; NULL: no more */
	size_t chosen;
} ROWS[] = {
	{{NULL}, 0},
	{{"*/*"}, 0},
	{{"application/x-bibtex"}, 1},
	{{"Application/X-BibTeX"}, 1},
	{{"text/csv, application/x-bibtex"}, 1},
	{{"text/csv, application/x-bibtex;q=0.9"}, 2},
	{{"text/csv", "application/json;q=0.1"}, 2},
	{{"application/*"}, 0},
	{{"text/*, application/*;q=0.5"}, 2},
	{{"text/*;q=0.3, text/csv;q=0.9, application/json;q=0.5"}, 2},
	{{"application/json;q=0, */*"}, 1},
	{{"application/*;q=0, */*"}, 2},
	{{"text/csv;charset=utf-8"}, 2},
	{{"text/csv; header=present; q=0.2, application/json;q=0.1"}, 2},
	{{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}, 0},
	{{"text/csv;q=2, application/json;q=0.1"}, 0},
	{{"text/html"}, NONE},
	{{"application/jso"}, NONE},
	{{"application/json;q=0"}, NONE},
	{{"json"}, NONE},
	{{""}, NONE},
	{{",;=,, ;q"}, NONE},
};

static void the_preferred_media_type_is_chosen(void **state attr_unused)
{
	for (size_t row = 0; row < ARRAY_LEN(ROWS); row++) {
		struct http_field fields[2];
		struct http_head head = {.fields = fields};
		for (size_t i = 0; i < 2 && ROWS[row].values[i]; i++)
			fields[head.field_count++] = http_field_of("accept", ROWS[row].values[i]);
		size_t chosen = http_accept_choose(&head, OFFERS, ARRAY_LEN(OFFERS));
		if (chosen != ROWS[row].chosen)
			fail_msg("%s: %zu", ROWS[row].values[0], chosen);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_preferred_media_type_is_chosen),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
