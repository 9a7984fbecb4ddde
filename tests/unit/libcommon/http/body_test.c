#include "http/body.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define KIB ((size_t)1024)
#define MIB (1024 * KIB)

static struct uuid account; /* nil: no account */

static int setup(void **state)
{
	(void)state;
	http_body_set_limit(4 * MIB);
	return 0;
}

static int teardown_checks_that_nothing_is_held(void **state)
{
	(void)state;
	assert_int_equal(http_body_used_bytes(), 0);
	return 0;
}

static struct http_body *body_new(struct arena *arena, size_t max_bytes, int64_t content_length)
{
	struct http_body *body = arena_new_of(arena, struct http_body);
	http_body_init(body, arena, &account, max_bytes, content_length);
	return body;
}

/* Add `count` bytes in pieces of `piece`. */
static enum err_code add(struct http_body *body, size_t count, size_t piece)
{
	static char data[2 * MIB];
	enum err_code code = ERR_NONE;
	for (size_t i = 0; i < ARRAY_LEN(data); i++)
		data[i] = (char)('a' + i % 26);
	for (size_t at = 0; at < count && !code; at += piece)
		code = http_body_add(body, data + at, MIN_OF(piece, count - at));
	return code;
}

static void pieces_are_joined(void **state)
{
	(void)state;
	static const size_t PIECES[] = {1000, 16 * KIB - 1, 16 * KIB, 64 * KIB, MIB};
	static const int64_t LENGTHS[] = {-1, 300001};
	for (size_t i = 0; i < ARRAY_LEN(PIECES) * ARRAY_LEN(LENGTHS); i++) {
		struct arena *arena = arena_new();
		struct http_body *body = body_new(arena, MIB, LENGTHS[i % 2]);
		assert_int_equal(add(body, 300001, PIECES[i / 2]), ERR_NONE);
		assert_int_equal(body->length, 300001);
		for (size_t at = 0; at < body->length; at++)
			assert_int_equal(body->data[at], 'a' + at % 26);
		assert_int_equal(body->data[body->length], '\0');
		arena_free(arena);
		assert_int_equal(http_body_used_bytes(), 0);
	}
}

static void an_empty_body_holds_nothing(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct http_body *body = body_new(arena, MIB, -1);
	assert_null(body->data);
	assert_int_equal(http_body_used_bytes(), 0);
	arena_free(arena);
}

static void the_limit_is_exact(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct http_body *body = body_new(arena, MIB, -1);
	assert_int_equal(add(body, MIB, 64 * KIB), ERR_NONE);
	assert_int_equal(http_body_add(body, "x", 1), ERR_TOO_LARGE);
	assert_int_equal(body->length, MIB);
	arena_free(arena);
}

/* Content-Length alone occupies no memory; received bytes occupy at most twice their number. */
static void memory_grows_with_the_bytes_received(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct http_body *body = body_new(arena, MIB, (int64_t)MIB);
	assert_int_equal(add(body, 1, 1), ERR_NONE);
	assert_true(http_body_used_bytes() <= 16 * KIB);
	assert_int_equal(add(body, 100 * KIB, KIB), ERR_NONE);
	assert_true(http_body_used_bytes() <= 202 * KIB);
	assert_int_equal(add(body, MIB - 100 * KIB - 1, KIB), ERR_NONE);
	assert_int_equal(http_body_used_bytes(), MIB + 1);
	arena_free(arena);
}

static void a_small_body_takes_no_more_than_its_length(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct http_body *body = body_new(arena, MIB, 300);
	assert_int_equal(add(body, 300, 100), ERR_NONE);
	assert_int_equal(http_body_used_bytes(), 301);
	arena_free(arena);
}

static void all_bodies_share_one_budget(void **state)
{
	(void)state;
	struct arena *arenas[4];
	struct http_body *bodies[4];
	for (size_t i = 0; i < 4; i++) {
		arenas[i] = arena_new();
		bodies[i] = body_new(arenas[i], 2 * MIB, (int64_t)MIB);
	}
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(add(bodies[i], MIB, 64 * KIB), ERR_NONE);
	assert_int_equal(add(bodies[3], MIB, 64 * KIB), ERR_UNAVAILABLE);
	assert_true(http_body_used_bytes() <= 4 * MIB);

	http_body_drop(bodies[3]);
	http_body_drop(bodies[3]);
	assert_int_equal(http_body_used_bytes(), 3 * (MIB + 1));
	arena_free(arenas[0]);
	assert_int_equal(add(bodies[3], MIB, 64 * KIB), ERR_NONE);
	for (size_t i = 1; i < 4; i++)
		arena_free(arenas[i]);
}

/* Also one that alone needs more than all of the memory. */
static void a_refused_piece_changes_nothing(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct http_body *body = body_new(arena, 16 * MIB, -1);
	enum err_code code = ERR_NONE;
	size_t added = 0;
	for (; !code; added += code ? 0 : MIB)
		code = add(body, MIB, MIB);
	assert_int_equal(code, ERR_TOO_LARGE);
	assert_true(added > 0);
	assert_int_equal(body->length, added);
	assert_int_equal(body->data[added - 1], 'a' + (MIB - 1) % 26);
	arena_free(arena);
}

/* Clients without a key have shares of half as much, beside what accounts have. */
static void bodies_without_a_key_are_shared_by_client(void **state)
{
	(void)state;
	static const char *const CLIENTS[] = {"192.0.2.1", "192.0.2.1", "2001:db8::1"};
	static const enum err_code CODES[] = {ERR_NONE, ERR_RATE_LIMITED, ERR_NONE};
	struct arena *arena = arena_new();
	http_body_set_limit(80 * MIB);
	account = (struct uuid){{1}};
	for (size_t i = 0; i < ARRAY_LEN(CLIENTS); i++) {
		struct http_body *body = arena_new_of(arena, struct http_body);
		http_body_init_open(body, arena, CLIENTS[i], 9 * MIB, -1);
		assert_int_equal(add(body, KIB, KIB), i == 1 ? ERR_NONE : CODES[i]);
		assert_int_equal(http_body_take_work(body, 9 * MIB), CODES[i]);
	}
	struct http_body *of_key = body_new(arena, MIB, MIB);
	assert_int_equal(http_body_take_work(of_key, 80 * MIB), ERR_NONE);
	arena_free(arena);
	account = (struct uuid){{0}};
	http_body_set_limit(4 * MIB);
}

/* What is made of a body counts until its arena is freed; an account's only body may exceed its
 * share. */
static void work_with_a_body_counts(void **state)
{
	(void)state;
	struct arena *arena = arena_new(), *other_arena = arena_new();
	http_body_set_limit(40 * MIB);
	account = (struct uuid){{1}};
	struct http_body *body = body_new(arena, MIB, MIB);
	struct http_body *other = body_new(other_arena, MIB, MIB);
	assert_int_equal(add(body, MIB, MIB), ERR_NONE);
	assert_int_equal(http_body_take_work(body, 40 * MIB), ERR_TOO_LARGE);
	assert_int_equal(http_body_take_work(body, 20 * MIB), ERR_NONE);
	assert_int_equal(add(other, KIB, KIB), ERR_RATE_LIMITED);
	account = (struct uuid){{2}};
	struct http_body *of_another = body_new(other_arena, MIB, MIB);
	assert_int_equal(add(of_another, KIB, KIB), ERR_NONE);
	assert_int_equal(http_body_take_work(of_another, 20 * MIB), ERR_UNAVAILABLE);
	http_body_drop(body);
	assert_in_range(http_body_used_bytes(), 20 * MIB, 21 * MIB);
	arena_free(arena);
	assert_int_equal(http_body_take_work(of_another, 20 * MIB), ERR_NONE);
	arena_free(other_arena);
	account = (struct uuid){{0}};
}

/* Decode `count` bytes in pieces of the room. Returns the code that ends it. */
static enum err_code decode(struct http_body *body, size_t count)
{
	enum err_code code = ERR_NONE;
	while (count > 0 && !code) {
		char *at;
		size_t room;
		code = http_body_decode_room(body, &at, &room);
		if (code)
			break;
		size_t length = MIN_OF(room, count);
		memset(at, 'd', length);
		code = http_body_decoded(body, length);
		count -= length;
	}
	return code;
}

static void a_decoded_content_replaces_the_sent_one(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct http_body *body = body_new(arena, MIB, 3000);
	assert_int_equal(add(body, 3000, 1000), ERR_NONE);
	http_body_decode_begin(body);
	assert_int_equal(body->coded_length, 3000);
	assert_int_equal(decode(body, 100 * KIB), ERR_NONE);
	assert_in_range(http_body_used_bytes(), 3001 + 100 * KIB, 3001 + 200 * KIB);
	http_body_decode_end(body);
	assert_int_equal(body->length, 100 * KIB);
	assert_int_equal(body->data[body->length], '\0');
	assert_in_range(http_body_used_bytes(), 100 * KIB, 200 * KIB);
	arena_free(arena);
}

/* Content that expands without end is found out at max_bytes, and has occupied little more. */
static void the_limit_of_a_decoded_content_is_exact(void **state)
{
	(void)state;
	for (size_t extra = 0; extra <= 1; extra++) {
		struct arena *arena = arena_new();
		struct http_body *body = body_new(arena, MIB, 100);
		assert_int_equal(add(body, 100, 100), ERR_NONE);
		http_body_decode_begin(body);
		assert_int_equal(decode(body, extra ? SIZE_MAX : MIB),
		                 extra ? ERR_TOO_LARGE : ERR_NONE);
		assert_int_equal(body->length, MIB + extra);
		assert_true(http_body_used_bytes() <= MIB + 200);
		http_body_drop(body);
		assert_int_equal(http_body_used_bytes(), 0);
		arena_free(arena);
	}
}

static void a_decoded_content_counts_in_the_budget(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct http_body *body = body_new(arena, 16 * MIB, 100);
	assert_int_equal(add(body, 100, 100), ERR_NONE);
	http_body_decode_begin(body);
	assert_int_equal(decode(body, 8 * MIB), ERR_TOO_LARGE);
	arena_free(arena);
}

int main(void)
{
#define CASE(name) \
	cmocka_unit_test_setup_teardown(name, setup, teardown_checks_that_nothing_is_held)
	const struct CMUnitTest tests[] = {
		CASE(pieces_are_joined),
		CASE(an_empty_body_holds_nothing),
		CASE(the_limit_is_exact),
		CASE(memory_grows_with_the_bytes_received),
		CASE(a_small_body_takes_no_more_than_its_length),
		CASE(all_bodies_share_one_budget),
		CASE(a_refused_piece_changes_nothing),
		CASE(bodies_without_a_key_are_shared_by_client),
		CASE(work_with_a_body_counts),
		CASE(a_decoded_content_replaces_the_sent_one),
		CASE(the_limit_of_a_decoded_content_is_exact),
		CASE(a_decoded_content_counts_in_the_budget),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
