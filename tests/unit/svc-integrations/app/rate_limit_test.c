#include "app/rate_limit.h"

#include "arena_fixture.h"

#include <string.h>

#define NOW_S 1767225600

static struct fetch_response answer_of(int status, const char *body, struct http_field *fields,
                                       size_t count)
{
	return (struct fetch_response){
		.status = status,
		.fields = fields,
		.field_count = count,
		.body = body,
		.body_length = strlen(body),
	};
}

/* At most three fields, as name, value, name, … */
struct limit_case {
	int status;
	const char *body, *fields[6];
	int64_t wait_s;
};

static void the_wait_follows_from_the_answer(void **state)
{
	(void)state;
	static const struct limit_case CASES[] = {
		{200, "", {0}, 0},
		{200, "", {"x-ratelimit-remaining", "1", "x-ratelimit-reset", "1767225700"}, 0},
		/* A call that used up the limit. */
		{200, "", {"x-ratelimit-remaining", "0", "x-ratelimit-reset", "1767225700"}, 100},
		{200, "", {"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1767225500"}, 0},
		/* Refusals. */
		{403, "", {"x-ratelimit-remaining", "0", "x-ratelimit-reset", "1767225700"}, 100},
		{403, "", {"x-ratelimit-remaining", "0", "x-ratelimit-reset", "1767225500"}, 1},
		{403, "", {"x-ratelimit-remaining", "0"}, 1},
		{403, "", {"x-ratelimit-remaining", "-1"}, 0},
		{429, "", {"retry-after", "17"}, 17},
		{403, "", {"Retry-After", "17", "x-ratelimit-remaining", "4000"}, 17},
		{403, "", {"retry-after", "0"}, 1},
		{403, "", {"retry-after", "soon"}, 1},
		{403, "", {"retry-after", "99999"}, 3600},
		{403, "", {"x-ratelimit-remaining", "0", "x-ratelimit-reset", "1867225600"}, 3600},
		{429, "", {0}, 60},
		{403, "{\"message\": \"You have exceeded a secondary rate limit\"}", {0}, 60},
		{403, "{\"message\": \"API Rate Limit exceeded\"}", {0}, 60},
		/* Not about limits. */
		{403, "{\"message\": \"Resource not accessible by integration\"}", {0}, 0},
		{200, "a rate limit", {"retry-after", "17"}, 0},
		{503, "", {"retry-after", "17"}, 0},
	};
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		const struct limit_case *row = &CASES[i];
		struct http_field fields[3];
		size_t count = 0;
		for (; count < 3 && row->fields[2 * count]; count++)
			fields[count] =
				http_field_of(row->fields[2 * count], row->fields[2 * count + 1]);
		struct fetch_response answer = answer_of(row->status, row->body, fields, count);
		assert_int_equal(rate_limit_wait_s(&answer, NOW_S * INT64_C(1000)), row->wait_s);
	}
}

static void the_code_host_s_own_clock_counts(void **state)
{
	(void)state;
	struct http_field fields[] = {
		http_field_of("Date", "Thu, 01 Jan 2026 00:00:00 GMT"),
		http_field_of("x-ratelimit-remaining", "0"),
		http_field_of("x-ratelimit-reset", "1767225700"),
	};
	struct fetch_response answer = answer_of(403, "", fields, ARRAY_LEN(fields));
	assert_int_equal(rate_limit_wait_s(&answer, (NOW_S - 5000) * INT64_C(1000)), 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_wait_follows_from_the_answer),
		cmocka_unit_test(the_code_host_s_own_clock_counts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
