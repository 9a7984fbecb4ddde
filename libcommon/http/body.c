#include "http/body.h"

#include "base/base.h"
#include "base/metrics.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_MIN_BYTES ((size_t)16 << 10) /* most bodies are smaller */

static size_t budget_bytes = SIZE_MAX;
static _Atomic size_t used_bytes;

static struct metric bodies_gauge =
	METRIC_GAUGE("expops_http_body_bytes",
                     "Memory of request bodies; BODY_MEMORY is the limit.");
static struct metric refused_total =
	METRIC_COUNTER("expops_http_body_refused_total",
                       "Requests refused because BODY_MEMORY was used up.");

void http_body_register(size_t budget)
{
	budget_bytes = budget;
	metric_register(&bodies_gauge);
	metric_register(&refused_total);
}

size_t http_body_used_bytes(void)
{
	return used_bytes;
}

static bool budget_take(size_t bytes)
{
	size_t before = atomic_fetch_add(&used_bytes, bytes);
	if (before > budget_bytes || bytes > budget_bytes - before) {
		atomic_fetch_sub(&used_bytes, bytes);
		metric_add(&refused_total, NULL, NULL, 1);
		return false;
	}
	metric_add(&bodies_gauge, NULL, NULL, (double)bytes);
	return true;
}

static void budget_give(size_t bytes)
{
	atomic_fetch_sub(&used_bytes, bytes);
	metric_add(&bodies_gauge, NULL, NULL, -(double)bytes);
}

static void on_arena_freed(void *body)
{
	http_body_drop(body);
}

void http_body_init(struct http_body *body, struct arena *arena, size_t max_bytes,
                    int64_t content_length)
{
	*body = (struct http_body){
		.max_bytes = max_bytes,
		.expected_bytes = content_length < 0 ? max_bytes : (size_t)content_length,
	};
	arena_on_free(arena, on_arena_freed, body);
}

/* Make room for `needed` bytes: double the memory, up to the expected length. */
static bool body_grow(struct http_body *body, size_t needed)
{
	if (needed <= body->room_bytes)
		return true;
	size_t doubled = MAX_OF(2 * body->room_bytes, ROOM_MIN_BYTES);
	size_t room = MAX_OF(needed, MIN_OF(doubled, body->expected_bytes + 1));
	if (!budget_take(room - body->room_bytes))
		return false;
	body->data = realloc(body->data, room);
	require(body->data);
	body->room_bytes = room;
	return true;
}

enum err_code http_body_add(struct http_body *body, const char *data, size_t length)
{
	if (length > body->max_bytes - body->length)
		return ERR_TOO_LARGE;
	if (!body_grow(body, body->length + length + 1))
		return ERR_UNAVAILABLE;
	memcpy(body->data + body->length, data, length);
	body->length += length;
	body->data[body->length] = '\0';
	return ERR_NONE;
}

void http_body_drop(struct http_body *body)
{
	budget_give(body->room_bytes);
	free(body->data);
	body->data = NULL;
	body->length = body->room_bytes = 0;
}
