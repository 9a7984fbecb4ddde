#include "embeddings/embedding_response.h"

#include "arena_fixture.h"
#include "base/base.h"

#include <math.h>
#include <string.h>

static const char *read(const char *body, size_t count, struct embedding_response *ret_answer)
{
	return embedding_response_read(arena, body, strlen(body), count, ret_answer);
}

static void assert_vector(const float *vector, float first, float second)
{
	assert_true(fabsf(vector[0] - first) < 1e-6f);
	assert_true(fabsf(vector[1] - second) < 1e-6f);
}

static void test_vectors_have_length_1_and_follow_the_order_of_the_texts(void **state)
{
	struct embedding_response answer;
	(void)state;
	assert_null(read("{\"data\":[{\"index\":1,\"embedding\":[3,4.0]},"
	                 "{\"index\":0,\"embedding\":[0,-5e-3]}],\"usage\":{}}",
	                 2, &answer));
	assert_int_equal(answer.dimension, 2);
	assert_vector(answer.vectors, 0, -1);
	assert_vector(answer.vectors + 2, 0.6f, 0.8f);
}

static void test_entries_without_an_index_belong_to_their_position(void **state)
{
	struct embedding_response answer;
	(void)state;
	assert_null(read("{\"data\":[{\"embedding\":[1,0]},{\"embedding\":[0,1]}]}", 2, &answer));
	assert_vector(answer.vectors, 1, 0);
	assert_vector(answer.vectors + 2, 0, 1);
}

/* The squares of these elements are outside the range of a float. */
static void test_vectors_of_any_magnitude_are_scaled(void **state)
{
	struct embedding_response answer;
	(void)state;
	assert_null(read("{\"data\":[{\"embedding\":[3e200,4e200]},{\"embedding\":[3e-200,4e-200]}"
	                 "]}",
	                 2, &answer));
	assert_vector(answer.vectors, 0.6f, 0.8f);
	assert_vector(answer.vectors + 2, 0.6f, 0.8f);
}

/* An answer with one vector of `count` ones. */
static const char *answer_of_ones(size_t count)
{
	struct buf buf = {.arena = arena};
	buf_puts(&buf, "{\"data\":[{\"embedding\":[");
	for (size_t i = 0; i < count; i++)
		buf_puts(&buf, i ? ",1" : "1");
	buf_puts(&buf, "]}]}");
	return buf.data;
}

static void test_dimension_is_limited(void **state)
{
	struct embedding_response answer;
	(void)state;
	assert_null(read(answer_of_ones(EMBEDDING_MAX_DIMENSION), 1, &answer));
	assert_int_equal(answer.dimension, EMBEDDING_MAX_DIMENSION);
	assert_true(fabsf(answer.vectors[EMBEDDING_MAX_DIMENSION - 1] - 1 / 64.0f) < 1e-6f);
	assert_non_null(strstr(read(answer_of_ones(EMBEDDING_MAX_DIMENSION + 1), 1, &answer),
	                       "4097 elements"));
}

/* Memory is spent only on as many elements as the vectors can have. */
static void test_answers_with_too_many_values_are_refused(void **state)
{
	struct embedding_response answer;
	(void)state;
	const char *reason = read(answer_of_ones(4 * EMBEDDING_MAX_DIMENSION), 1, &answer);
	assert_non_null(strstr(reason, "has more than"));
}

static void test_unusable_answers_are_refused(void **state)
{
	static const struct {
		const char *body, *word; /* of the reason */
	} ROWS[] = {
		{"", "JSON"},
		{"{\"data\":[", "JSON"},
		{"[]", "0 vectors for 2 texts"},
		{"{}", "0 vectors for 2 texts"},
		{"{\"data\":{\"a\":1,\"b\":2}}", "0 vectors for 2 texts"},
		{"{\"data\":[{\"embedding\":[1]}]}", "1 vectors for 2 texts"},
		{"{\"data\":[1,2]}", "0 elements"},
		{"{\"data\":[{\"embedding\":[]},{\"embedding\":[]}]}", "0 elements"},
		{"{\"data\":[{\"embedding\":[1]},{\"embedding\":[1,2]}]}", "dimension"},
		{"{\"data\":[{\"embedding\":[1]},{}]}", "dimension"},
		{"{\"data\":[{\"embedding\":[1]},{\"embedding\":\"AAAA\"}]}", "dimension"},
		{"{\"data\":[{\"embedding\":[1]},{\"embedding\":[null]}]}", "number"},
		{"{\"data\":[{\"embedding\":[1]},{\"embedding\":[0.0]}]}", "zero"},
		{"{\"data\":[{\"index\":0,\"embedding\":[1]},{\"index\":0,\"embedding\":[1]}]}",
	         "entries"},
		{"{\"data\":[{\"index\":0,\"embedding\":[1]},{\"index\":2,\"embedding\":[1]}]}",
	         "entries"},
		{"{\"data\":[{\"index\":0,\"embedding\":[1]},{\"index\":-1,\"embedding\":[1]}]}",
	         "entries"},
		{"{\"data\":[{\"index\":\"0\",\"embedding\":[1]},{\"embedding\":[1]}]}", "entries"},
	};
	struct embedding_response answer;
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		const char *reason = read(ROWS[i].body, 2, &answer);
		assert_non_null(reason);
		if (!strstr(reason, ROWS[i].word))
			fail_msg("%s: %s", ROWS[i].body, reason);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARENA_TEST(test_vectors_have_length_1_and_follow_the_order_of_the_texts),
		ARENA_TEST(test_entries_without_an_index_belong_to_their_position),
		ARENA_TEST(test_vectors_of_any_magnitude_are_scaled),
		ARENA_TEST(test_dimension_is_limited),
		ARENA_TEST(test_answers_with_too_many_values_are_refused),
		ARENA_TEST(test_unusable_answers_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
