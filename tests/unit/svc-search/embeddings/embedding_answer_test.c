#include "embeddings/embedding_answer.h"

#include "arena_fixture.h"
#include "base/base.h"

#include <math.h>
#include <string.h>

static const char *read(const char *body, size_t count, struct embedding_answer *ret_answer)
{
	return embedding_answer_read(arena, body, strlen(body), count, ret_answer);
}

static void assert_vector(const float *vector, float first, float second)
{
	assert_true(fabsf(vector[0] - first) < 1e-6f);
	assert_true(fabsf(vector[1] - second) < 1e-6f);
}

static void test_vectors_of_length_1_in_the_order_of_the_texts(void **state)
{
	struct embedding_answer answer;
	(void)state;
	assert_null(read("{\"data\":[{\"index\":1,\"embedding\":[3,4.0]},"
	                 "{\"index\":0,\"embedding\":[0,-5e-3]}],\"usage\":{}}",
	                 2, &answer));
	assert_int_equal(answer.dimension, 2);
	assert_vector(answer.vectors, 0, -1);
	assert_vector(answer.vectors + 2, 0.6f, 0.8f);
}

static void test_entries_without_an_index_are_in_order(void **state)
{
	struct embedding_answer answer;
	(void)state;
	assert_null(read("{\"data\":[{\"embedding\":[1,0]},{\"embedding\":[0,1]}]}", 2, &answer));
	assert_vector(answer.vectors, 1, 0);
	assert_vector(answer.vectors + 2, 0, 1);
}

/* Neither too large nor too small for a float's square. */
static void test_any_magnitude(void **state)
{
	struct embedding_answer answer;
	(void)state;
	assert_null(read("{\"data\":[{\"embedding\":[3e200,4e200]},{\"embedding\":[3e-200,4e-200]}"
	                 "]}",
	                 2, &answer));
	assert_vector(answer.vectors, 0.6f, 0.8f);
	assert_vector(answer.vectors + 2, 0.6f, 0.8f);
}

/* A vector of `count` ones, as an answer. */
static const char *answer_of_ones(size_t count)
{
	struct buf buf = {.arena = arena};
	buf_puts(&buf, "{\"data\":[{\"embedding\":[");
	for (size_t i = 0; i < count; i++)
		buf_puts(&buf, i ? ",1" : "1");
	buf_puts(&buf, "]}]}");
	return buf.data;
}

static void test_the_longest_vector(void **state)
{
	struct embedding_answer answer;
	(void)state;
	assert_null(read(answer_of_ones(EMBEDDING_MAX_DIMENSION), 1, &answer));
	assert_int_equal(answer.dimension, EMBEDDING_MAX_DIMENSION);
	assert_true(fabsf(answer.vectors[EMBEDDING_MAX_DIMENSION - 1] - 1 / 64.0f) < 1e-6f);
	assert_string_equal(read(answer_of_ones(EMBEDDING_MAX_DIMENSION + 1), 1, &answer),
	                    "its vectors have 4097 elements, not 1 to 4096");
}

static void test_what_is_refused(void **state)
{
	static const struct {
		const char *body, *why;
	} ROWS[] = {
		{"", "it is not JSON"},
		{"{\"data\":[", "it is not JSON"},
		{"[]", "it has 0 vectors for 2 texts"},
		{"{}", "it has 0 vectors for 2 texts"},
		{"{\"data\":{\"a\":1,\"b\":2}}", "it has 0 vectors for 2 texts"},
		{"{\"data\":[{\"embedding\":[1]}]}", "it has 1 vectors for 2 texts"},
		{"{\"data\":[1,2]}", "its vectors have 0 elements, not 1 to 4096"},
		{"{\"data\":[{\"embedding\":[]},{\"embedding\":[]}]}",
	         "its vectors have 0 elements, not 1 to 4096"},
		{"{\"data\":[{\"embedding\":[1]},{\"embedding\":[1,2]}]}",
	         "its vectors are not of one length"},
		{"{\"data\":[{\"embedding\":[1]},{}]}", "its vectors are not of one length"},
		{"{\"data\":[{\"embedding\":[1]},{\"embedding\":\"AAAA\"}]}",
	         "its vectors are not of one length"},
		{"{\"data\":[{\"embedding\":[1]},{\"embedding\":[null]}]}",
	         "a vector has an element that is no number"},
		{"{\"data\":[{\"embedding\":[1]},{\"embedding\":[0.0]}]}",
	         "a vector has no direction"},
		{"{\"data\":[{\"index\":0,\"embedding\":[1]},{\"index\":0,\"embedding\":[1]}]}",
	         "its entries are not one for each text"},
		{"{\"data\":[{\"index\":0,\"embedding\":[1]},{\"index\":2,\"embedding\":[1]}]}",
	         "its entries are not one for each text"},
		{"{\"data\":[{\"index\":0,\"embedding\":[1]},{\"index\":-1,\"embedding\":[1]}]}",
	         "its entries are not one for each text"},
		{"{\"data\":[{\"index\":\"0\",\"embedding\":[1]},{\"embedding\":[1]}]}",
	         "its entries are not one for each text"},
	};
	struct embedding_answer answer;
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		const char *why = read(ROWS[i].body, 2, &answer);
		assert_non_null(why);
		assert_string_equal(why, ROWS[i].why);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARENA_TEST(test_vectors_of_length_1_in_the_order_of_the_texts),
		ARENA_TEST(test_entries_without_an_index_are_in_order),
		ARENA_TEST(test_any_magnitude),
		ARENA_TEST(test_the_longest_vector),
		ARENA_TEST(test_what_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
