/* Sending a reply: its fields, its coding, and its share of the memory of answers.
 *
 * A large reply is compressed a piece in each turn of the loop, and not before the client has read
 * what was sent, so that it does not hold up other requests. A reply that is made while it is sent
 * goes the same way, with its fiber in between. */
#include "base/timefmt.h"
#include "http/accept_encoding.h"
#include "http/gzip.h"
#include "http/method.h"
#include "input/http_call.h"
#include "input/ignored_fields.h"
#include "pacing/budget.h"
#include "reply/etag.h"
#include "reply/reply.h"

#include <string.h>
#include <strings.h>

#define PIECE_BYTES       ((size_t)64 << 10)
#define COUNTED_MIN_BYTES PIECE_BYTES /* smaller replies are not counted in the budget */

BUDGET(answers, "expops_http_answer_bytes",
       "Memory of large answers that are being sent; ANSWER_MEMORY is the limit.",
       "expops_http_answer_refused_total",
       "Answers refused because ANSWER_MEMORY or the account's share of it was used up.");

/* What is left to compress and send; in the arena of the request. */
struct reply_sending {
	struct gzip *gzip;
	const char *rest;
	size_t left;
};

void reply_set_limit(size_t answer_memory_bytes)
{
	budget_set_limit(&answers, answer_memory_bytes);
}

/* A part of the budget, until the request is freed. */
struct taken {
	struct uuid account;
	size_t bytes;
};

static void give_back(void *context)
{
	const struct taken *taken = context;
	budget_give(&answers, &taken->account, taken->bytes);
}

enum err_code reply_take_memory(struct request *rq)
{
	const struct http_call *http = rq->http;
	size_t bytes = http->reply->length;
	bool is_open = uuid_is_nil(&rq->caller.account); /* its answer is a constant */
	if (bytes < COUNTED_MIN_BYTES || is_open)
		return ERR_NONE;
	bool is_repeatable =
		http_method_is_safe(http->head.method) || (http->op && http->op->flags & API_READS);
	enum err_code code = ERR_NONE;
	if (is_repeatable)
		code = budget_take(&answers, &rq->caller.account, bytes);
	else
		budget_take_anyway(&answers, &rq->caller.account, bytes);
	if (code)
		return code;
	struct taken *taken = arena_new_of(rq->arena, struct taken);
	*taken = (struct taken){.account = rq->caller.account, .bytes = bytes};
	arena_on_free(rq->arena, give_back, taken);
	return ERR_NONE;
}

/* The field of a compressed reply. */
static struct http_field gzip_field(struct arena *arena, const struct http_field *field)
{
	if (strcasecmp(field->name, "ETag") != 0)
		return *field;
	return http_field_of(field->name, etag_of_gzip(arena, field->value));
}

static void start(struct request *rq, const struct reply *reply, bool is_gzip, int64_t length)
{
	const struct http_call *http = rq->http;
	struct http_field *fields =
		arena_array(rq->arena, 5 + reply->field_count + http->field_count, sizeof(*fields));
	const char *ignored = ignored_fields_list(rq);
	size_t count = 0;
	if (reply->type)
		fields[count++] = http_field_of("Content-Type", reply->type);
	fields[count++] = http_field_of("X-Request-Id", rq->id);
	if (reply->is_varying || reply->length >= REPLY_GZIP_MIN_BYTES || length < 0)
		fields[count++] = http_field_of("Vary", "Accept-Encoding");
	if (is_gzip)
		fields[count++] = http_field_of("Content-Encoding", "gzip");
	if (ignored)
		fields[count++] = http_field_of("X-Ignored-Fields", ignored);
	for (size_t i = 0; i < reply->field_count; i++)
		fields[count++] =
			is_gzip ? gzip_field(rq->arena, &reply->fields[i]) : reply->fields[i];
	for (size_t i = 0; i < http->field_count; i++)
		fields[count++] = http->fields[i];
	http_respond_start(http->exchange, reply->status, fields, count, length);
}

/* --- Content that is made while it is sent ---------------------------------------------------- */

struct reply_stream {
	struct gzip *gzip; /* NULL: it is not compressed */
	bool is_unread;    /* the client has not read all that was sent */
};

/* A size at which a compressor takes all the memory that it may. */
#define STREAM_BYTES ((size_t)1 << 20)

void reply_stream_begin(struct request *rq, int status, const char *type)
{
	struct http_call *http = rq->http;
	bool is_gzip = coding_is_accepted(&http->head, CODING_GZIP);
	reply_content(rq, status, type, NULL, 0);
	http->stream = arena_new_of(rq->arena, struct reply_stream);
	if (is_gzip)
		http->stream->gzip = gzip_new(rq->arena, STREAM_BYTES);
	rq->has_effects = true;
	start(rq, http->reply, is_gzip, -1);
}

/* The server ends an exchange whose client reads too slowly. */
static void wait_for_client(struct request *rq)
{
	struct reply_stream *stream = rq->http->stream;
	uint64_t left_ms = request_left_ms(rq);
	stream->is_unread = true;
	rq->deadline_ms = UINT64_MAX;
	http_respond_later(rq->http->exchange);
	while (stream->is_unread)
		request_wait(rq);
	rq->deadline_ms = time_monotonic_ms() + left_ms;
}

static void add_piece(struct request *rq, const char *content, size_t length, bool is_last)
{
	struct gzip *gzip = rq->http->stream->gzip;
	if (gzip)
		content = gzip_add(gzip, content, length, is_last, &length);
	if (length && !rq->http->head.is_head)
		http_respond_content(rq->http->exchange, content, length);
}

void reply_stream_add(struct request *rq, const char *content, size_t length)
{
	request_require_no_transaction(rq);
	for (size_t piece; length > 0; content += piece, length -= piece) {
		piece = MIN_OF(length, PIECE_BYTES);
		if (fiber_cancelled(rq->fiber))
			request_wait(rq); /* raises */
		add_piece(rq, content, piece, false);
		wait_for_client(rq);
	}
}

void reply_stream_end(struct request *rq)
{
	if (rq->problem.code) {
		http_respond_abort(rq->http->exchange);
		return;
	}
	add_piece(rq, "", 0, true);
	http_respond_end(rq->http->exchange);
}

/* --- Content that is there -------------------------------------------------------------------- */

static void stream_go_on(struct request *rq)
{
	rq->http->stream->is_unread = false;
	if (rq->fiber)
		fiber_wake(rq->fiber);
}

void reply_send_more(struct request *rq)
{
	if (rq->http->stream) {
		stream_go_on(rq);
		return;
	}
	struct http_exchange *x = rq->http->exchange;
	struct reply_sending *sending = rq->http->sending;
	size_t piece = MIN_OF(sending->left, PIECE_BYTES), ready;
	bool is_last = piece == sending->left;
	const char *bytes = gzip_add(sending->gzip, sending->rest, piece, is_last, &ready);
	sending->rest += piece;
	sending->left -= piece;
	http_respond_content(x, bytes, ready);
	if (is_last)
		http_respond_end(x);
	else
		http_respond_later(x);
}

/* Compress a reply of one piece before it is started, so that its length is known. */
static void send_compressed(struct request *rq, const struct reply *reply)
{
	size_t length;
	struct gzip *gzip = gzip_new(rq->arena, reply->length);
	const char *content = gzip_add(gzip, reply->body, reply->length, true, &length);
	start(rq, reply, true, (int64_t)length);
	http_respond_last(rq->http->exchange, content, length);
}

/* Compress the reply piece by piece. */
static void start_compressing(struct request *rq, const struct reply *reply)
{
	start(rq, reply, true, -1);
	if (rq->http->head.is_head) {
		http_respond_end(rq->http->exchange);
		return;
	}
	rq->http->sending = arena_new_of(rq->arena, struct reply_sending);
	*rq->http->sending = (struct reply_sending){
		.rest = reply->body,
		.left = reply->length,
		.gzip = gzip_new(rq->arena, reply->length),
	};
	reply_send_more(rq);
}

void reply_send(struct request *rq)
{
	const struct http_call *http = rq->http;
	const struct reply *reply = http->reply;
	if (reply->length < REPLY_GZIP_MIN_BYTES || !coding_is_accepted(&http->head, CODING_GZIP)) {
		start(rq, reply, false, (int64_t)reply->length);
		http_respond_last(http->exchange, reply->body, reply->length);
	} else if (reply->length <= PIECE_BYTES) {
		send_compressed(rq, reply);
	} else {
		start_compressing(rq, reply);
	}
}
