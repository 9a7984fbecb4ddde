#include "observe/trace.h"

#include "arena_fixture.h"
#include "json/json.h"
#include "observe/trace_queue.h"

#include <string.h>

#define PARENT     "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
#define UNSAMPLED  "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
#define REQUEST_ID "01900000-0000-7000-8000-000000000001"
#define TRACE_TEXT 32

static struct trace_batch batch;

/* The span that was ended last, alone in the queue. */
static yyjson_val *taken(void)
{
	trace_queue_end(); /* so that nothing lingers */
	assert_true(trace_queue_take(&batch, 1000));
	assert_int_equal(batch.count, 1);
	yyjson_val *span;
	assert_int_equal(json_parse(arena, batch.text, batch.length, &span, NULL), ERR_NONE);
	return span;
}

static void assert_member(yyjson_val *span, const char *name, const char *value)
{
	assert_string_equal(json_get_text(span, name), value);
}

static void off_a_span_is_none_and_the_trace_goes_on(void **state attr_unused)
{
	const char *traceparent = "anything", *none = NULL;
	assert_null(span_begin(arena, SPAN_SERVER, REQUEST_ID, &traceparent));
	assert_string_equal(traceparent, "anything");
	assert_null(span_begin(arena, SPAN_SERVER, REQUEST_ID, &none));
	assert_null(none);
	assert_false(trace_queue_add("{}", 2));
}

static void a_span_continues_the_trace_of_the_caller(void **state attr_unused)
{
	trace_start(0);
	trace_queue_start();
	const char *traceparent = PARENT;
	struct span *span = span_begin(arena, SPAN_SERVER, REQUEST_ID, &traceparent);
	assert_non_null(span);
	assert_int_equal(strlen(traceparent), strlen(PARENT));
	assert_memory_equal(traceparent, PARENT, 36);
	assert_string_not_equal(traceparent, PARENT);
	assert_string_equal(traceparent + 52, "-01");
	span_end(span, "a \"name\"", true, f_text("expops.text", "x\ny"), f_text("left.out", NULL),
	         f_int("expops.int", INT64_C(9007199254740993)), f_bool("expops.bool", true));
	yyjson_val *written = taken();
	assert_member(written, "traceId", "4bf92f3577b34da6a3ce929d0e0e4736");
	assert_member(written, "parentSpanId", "00f067aa0ba902b7");
	assert_member(written, "spanId", arena_strndup(arena, traceparent + 36, 16));
	assert_member(written, "name", "a \"name\"");
	assert_int_equal(json_get_int(written, "kind", 0), SPAN_SERVER);
	assert_int_equal(json_get_int(json_get(written, "status"), "code", 0), 2);
	assert_string_equal(json_write(arena, json_get(written, "attributes"), NULL),
	                    "[{\"key\":\"expops.text\",\"value\":{\"stringValue\":\"x\\ny\"}},"
	                    "{\"key\":\"expops.int\",\"value\":{\"intValue\":"
	                    "\"9007199254740993\"}},"
	                    "{\"key\":\"expops.bool\",\"value\":{\"boolValue\":true}}]");
	int64_t began = strtoll(json_get_text(written, "startTimeUnixNano"), NULL, 10);
	int64_t ended = strtoll(json_get_text(written, "endTimeUnixNano"), NULL, 10);
	assert_true(began > INT64_C(1700000000000000000) && ended >= began);
}

static void a_trace_that_is_not_sampled_is_passed_on(void **state attr_unused)
{
	trace_start(1);
	const char *traceparent = UNSAMPLED;
	assert_null(span_begin(arena, SPAN_SERVER, REQUEST_ID, &traceparent));
	assert_string_equal(traceparent, UNSAMPLED);
	trace_start(0);
	const char *none = NULL;
	assert_null(span_begin(arena, SPAN_SERVER, REQUEST_ID, &none));
	assert_string_equal(none + 52, "-00");
}

/* The task of a request, in another process, finds the request's trace by the request id. */
static void the_request_id_leads_to_the_trace(void **state attr_unused)
{
	trace_start(1);
	const char *of_request = NULL, *of_task = NULL, *of_other = NULL;
	struct span *request = span_begin(arena, SPAN_SERVER, REQUEST_ID, &of_request);
	struct span *task = span_begin(arena, SPAN_CONSUMER, REQUEST_ID, &of_task);
	assert_non_null(request);
	assert_memory_equal(of_request, of_task, 3 + TRACE_TEXT);
	assert_string_not_equal(of_request, of_task);
	trace_queue_start();
	span_end(task, "task", false);
	assert_member(taken(), "parentSpanId", arena_strndup(arena, of_request + 36, 16));
	assert_non_null(span_begin(arena, SPAN_CONSUMER, "outbox", &of_other));
	assert_memory_not_equal(of_request, of_other, 3 + TRACE_TEXT);
}

static void a_call_outside_of_a_trace_begins_none(void **state attr_unused)
{
	trace_start(1);
	const char *none = NULL;
	assert_null(span_begin(arena, SPAN_CLIENT, REQUEST_ID, &none));
	assert_null(none);
}

static void what_is_no_traceparent_counts_as_none(void **state attr_unused)
{
	static const char *const WRONG[] = {
		"",
		"00-a-b-01",
		PARENT "-00",
		"ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
		"00-00000000000000000000000000000000-00f067aa0ba902b7-01",
		"00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
		"00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01",
		"00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
		"01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01x",
	};
	trace_start(1);
	for (size_t i = 0; i < ARRAY_LEN(WRONG); i++) {
		const char *traceparent = WRONG[i];
		assert_non_null(span_begin(arena, SPAN_SERVER, REQUEST_ID, &traceparent));
		assert_memory_not_equal(traceparent, PARENT, 36);
	}
	const char *later = "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more";
	assert_non_null(span_begin(arena, SPAN_SERVER, REQUEST_ID, &later));
	assert_memory_equal(later, PARENT, 36);
}

static void about_the_fraction_is_sampled(void **state attr_unused)
{
	trace_start(0.25);
	int sampled = 0;
	for (int i = 0; i < 4000; i++) {
		const char *traceparent = NULL;
		sampled += span_begin(arena, SPAN_SERVER, "no uuid", &traceparent) != NULL;
	}
	assert_in_range(sampled, 800, 1200);
}

static void the_queue_is_bounded(void **state attr_unused)
{
	static char large[100000];
	memset(large, 'x', sizeof(large));
	trace_queue_start();
	size_t added = 0;
	while (trace_queue_add(large, sizeof(large)))
		added++;
	assert_in_range(added, 9, TRACE_QUEUE_BYTES / sizeof(large));
	assert_true(trace_queue_take(&batch, 100000)); /* half full: nothing lingers */
	assert_int_equal(batch.count, added);
	assert_int_equal(batch.length, added * sizeof(large) + added - 1);
	assert_true(trace_queue_add(large, sizeof(large))); /* into the other half */
	trace_queue_end();
	assert_true(trace_queue_take(&batch, 100000));
	assert_false(trace_queue_pause(100000));
	assert_false(trace_queue_take(&batch, 100000));
}

static int teardown(void **state)
{
	trace_queue_free();
	return arena_teardown(state);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, arena_setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(off_a_span_is_none_and_the_trace_goes_on),
		CASE(a_span_continues_the_trace_of_the_caller),
		CASE(a_trace_that_is_not_sampled_is_passed_on),
		CASE(the_request_id_leads_to_the_trace),
		CASE(a_call_outside_of_a_trace_begins_none),
		CASE(what_is_no_traceparent_counts_as_none),
		CASE(about_the_fraction_is_sampled),
		CASE(the_queue_is_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
