#include "http/body.h"

#include "base/base.h"
#include "pacing/budget.h"
#include "pacing/client_id.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_MIN_BYTES ((size_t)16 << 10) /* most bodies are smaller */

BUDGET(bodies, "expops_http_body_bytes",
       "Memory of request bodies and of what is parsed from them; BODY_MEMORY is the limit, "
       "and half as much for those without a key.",
       "expops_http_body_refused_total",
       "Requests refused because BODY_MEMORY or the account's share of it was used up.");

/* Of requests without a key, which so take nothing from those with one. */
static struct budget open_bodies = {
	.used = &bodies_used,
	.refused = &bodies_refused,
	.lock = PTHREAD_MUTEX_INITIALIZER,
};

void http_body_set_limit(size_t budget_bytes)
{
	budget_set_limit(&bodies, budget_bytes);
	budget_set_limit(&open_bodies, budget_bytes / 2);
}

size_t http_body_used_bytes(void)
{
	return budget_used_bytes(&bodies) + budget_used_bytes(&open_bodies);
}

static void give(const struct http_body *body, size_t bytes)
{
	if (body->budget)
		budget_give(body->budget, &body->account, bytes);
}

static void on_arena_freed(void *ptr)
{
	struct http_body *body = ptr;
	http_body_drop(body);
	give(body, body->work_bytes);
}

void http_body_init_in(struct http_body *body, struct arena *arena, struct budget *budget,
                       const struct uuid *account, size_t max_bytes)
{
	*body = (struct http_body){
		.budget = budget,
		.account = *account,
		.max_bytes = max_bytes,
		.expected_bytes = max_bytes,
	};
	arena_on_free(arena, on_arena_freed, body);
}

void http_body_init(struct http_body *body, struct arena *arena, const struct uuid *account,
                    size_t max_bytes, int64_t content_length)
{
	http_body_init_in(body, arena, &bodies, account, max_bytes);
	if (content_length >= 0)
		body->expected_bytes = (size_t)content_length;
}

void http_body_init_open(struct http_body *body, struct arena *arena, const char *client,
                         size_t max_bytes, int64_t content_length)
{
	struct uuid share = client_id(client);
	http_body_init(body, arena, &share, max_bytes, content_length);
	body->budget = &open_bodies;
}

static size_t held_bytes(const struct http_body *body)
{
	return body->room_bytes + body->work_bytes + body->coded_bytes;
}

static enum err_code take(struct http_body *body, size_t bytes)
{
	if (!body->budget)
		return ERR_NONE;
	size_t limit = body->budget->limit_bytes;
	if (limit > 0 && bytes > limit - MIN_OF(held_bytes(body), limit))
		return ERR_TOO_LARGE;
	return budget_take_more(body->budget, &body->account, held_bytes(body), bytes);
}

/* Make room for `needed` bytes: double the memory, up to `most`. */
static enum err_code body_grow(struct http_body *body, size_t needed, size_t most)
{
	if (needed <= body->room_bytes)
		return ERR_NONE;
	size_t doubled = MAX_OF(2 * body->room_bytes, ROOM_MIN_BYTES);
	size_t room = MAX_OF(needed, MIN_OF(doubled, most));
	enum err_code code = take(body, room - body->room_bytes);
	if (code)
		return code;
	body->data = realloc(body->data, room);
	require(body->data);
	body->room_bytes = room;
	return ERR_NONE;
}

enum err_code http_body_add(struct http_body *body, const char *data, size_t length)
{
	if (length > body->max_bytes - body->length)
		return ERR_TOO_LARGE;
	enum err_code code = body_grow(body, body->length + length + 1, body->expected_bytes + 1);
	if (code)
		return code;
	memcpy(body->data + body->length, data, length);
	body->length += length;
	body->data[body->length] = '\0';
	return ERR_NONE;
}

enum err_code http_body_take_work(struct http_body *body, size_t bytes)
{
	enum err_code code = take(body, bytes);
	if (!code)
		body->work_bytes += bytes;
	return code;
}

void http_body_decode_begin(struct http_body *body)
{
	require(!body->coded);
	body->coded = body->data;
	body->coded_length = body->length;
	body->coded_bytes = body->room_bytes;
	body->data = NULL;
	body->length = body->room_bytes = 0;
}

/* One byte above max_bytes distinguishes a content that is too long from one that just fits. */
#define BEYOND_BYTES 1

enum err_code http_body_decode_room(struct http_body *body, char **ret_at, size_t *ret_room)
{
	size_t most = body->max_bytes + BEYOND_BYTES + 1;
	enum err_code code = body_grow(body, body->length + 2, most);
	if (code)
		return code;
	*ret_at = body->data + body->length;
	*ret_room = body->room_bytes - body->length - 1;
	return ERR_NONE;
}

enum err_code http_body_decoded(struct http_body *body, size_t length)
{
	body->length += length;
	require(body->length < body->room_bytes);
	body->data[body->length] = '\0';
	return body->length > body->max_bytes ? ERR_TOO_LARGE : ERR_NONE;
}

void http_body_decode_end(struct http_body *body)
{
	give(body, body->coded_bytes);
	free(body->coded);
	body->coded = NULL;
	body->coded_length = body->coded_bytes = 0;
}

void http_body_drop(struct http_body *body)
{
	http_body_decode_end(body);
	give(body, body->room_bytes);
	free(body->data);
	body->data = NULL;
	body->length = body->room_bytes = 0;
}
