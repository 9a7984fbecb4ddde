#include "request/idempotency.h"

#include "crypto/crypto.h"
#include "http/gunzip.h"
#include "http/gzip.h"
#include "idempotency.sql.h"
#include "input/ignored_fields.h"
#include "input/input.h"
#include "loop/worker.h"
#include "observe/log.h"
#include "pg/pg.h"
#include "reply/reply.h"
#include "request/held_secret.h"
#include "service/process.h"

#include <stdlib.h>
#include <string.h>

#define FIELD_NAME   "Idempotency-Key"
#define KEY_TEXT_MAX 255

/* A reservation outlives the deadline of its request by this, for storing the answer. */
#define RESERVATION_EXTRA_MS 5000

/* Shorter answers are not compressed, as it would save little, and longer ones, as it would hold up
 * the worker. */
#define COMPRESSED_MIN 512
#define COMPRESSED_MAX (256 * 1024)

/* Longer ones, as they are stored, have a limited room (idempotency.sql). */
#define LARGE_MIN ((size_t)64 * 1024)

/* The first byte of gzip; an answer that is not compressed begins with a digit. */
#define GZIP_BYTE 0x1f

/* The record of a request: its identity and the key that its answer is encrypted with. Everything
 * but the body's hash depends on the caller's API key, so that no other key of the account can get
 * the answer. */
struct claim {
	const char *key;
	const char *operation;
	uint8_t key_hash[SHA256_LEN];
	uint8_t body_hash[SHA256_LEN];
	int64_t lock;             /* from account, API key, operation and key: idempotency_lock() */
	const char *seal_context; /* whose answer it is (held_secret.h) */
};

struct reservation {
	struct uuid owner;
};

static bool is_key(const char *text)
{
	size_t length = strlen(text);
	for (size_t i = 0; i < length; i++) {
		if (text[i] < '!' || text[i] > '~')
			return false;
	}
	return length >= 1 && length <= KEY_TEXT_MAX;
}

/* SHA-256 over operation, path and body. Neither of the first two can contain the line feed that
 * ends it, so that different requests cannot be hashed as the same text. */
static void claim_hash_body(struct request *rq, struct claim *claim)
{
	const struct http_call *http = rq->http;
	struct buf all = {.arena = rq->arena};
	buf_printf(&all, "%s\n", claim->operation);
	buf_add(&all, http->head.target, http->head.path_length);
	buf_puts(&all, "\n");
	buf_add(&all, http->body, http->body_length);
	sha256(all.data, all.length, claim->body_hash);
}

static struct claim *claim_of(struct request *rq)
{
	struct claim *claim = arena_new_of(rq->arena, struct claim);
	char account[UUID_TEXT_LEN + 1], caller[UUID_TEXT_LEN + 1];
	uint8_t digest[SHA256_LEN];
	uuid_format(&rq->caller.account, account);
	uuid_format(&rq->caller.key_id, caller);
	claim->key = request_header(rq, FIELD_NAME);
	claim->operation = rq->http->op->name;
	claim->seal_context =
		arena_printf(rq->arena, "%s %s %s", account, caller, claim->operation);
	const char *own = arena_printf(rq->arena, "%s %s", caller, claim->key);
	sha256(own, strlen(own), claim->key_hash);
	claim_hash_body(rq, claim);

	const char *scope = arena_printf(rq->arena, "%s %s", claim->seal_context, claim->key);
	sha256(scope, strlen(scope), digest);
	memcpy(&claim->lock, digest, sizeof(claim->lock));
	return claim;
}

/* How its answer is sealed. */
static struct held_secret seal_of(const struct claim *claim)
{
	return (struct held_secret){"idempotency", claim->key, claim->seal_context};
}

/* An answer is stored as lines (status, content type, a line `name: value` for each field, an empty
 * line), followed by the content:
 *
 *     201\napplication/json\nLocation: /api/v1.0/interests/0197…\n\n{"id":"0197…"}
 */
static struct buf answer_write(struct request *rq)
{
	const struct reply *reply = reply_of(rq);
	struct buf out = {.arena = rq->arena};
	buf_printf(&out, "%d\n%s\n", reply->status, reply->type);
	for (size_t i = 0; i < reply->field_count; i++)
		buf_printf(&out, "%s: %s\n", reply->fields[i].name, reply->fields[i].value);
	if (ignored_fields_list(rq))
		buf_printf(&out, "X-Ignored-Fields: %s\n", ignored_fields_list(rq));
	buf_puts(&out, "\n");
	buf_add(&out, reply->body, reply->length);
	return out;
}

/* What is stored of an answer: it, or gzip of it. */
static struct buf answer_pack(struct request *rq, struct buf answer)
{
	if (!rq->worker->process->settings->compresses_answers || answer.length < COMPRESSED_MIN ||
	    answer.length > COMPRESSED_MAX)
		return answer;
	struct buf packed = {.arena = rq->arena};
	struct gzip *gzip = gzip_new(rq->arena, answer.length);
	size_t length;
	const char *data = gzip_add(gzip, answer.data, answer.length, true, &length);
	buf_add(&packed, data, length);
	return packed;
}

static struct buf answer_unpack(struct request *rq, char *stored, size_t length)
{
	struct buf answer = {.arena = rq->arena};
	if ((uint8_t)*stored != GZIP_BYTE)
		return (struct buf){.data = stored, .length = length};
	struct gunzip *gunzip = gunzip_new(rq->arena, stored, length);
	enum gunzip_status status = GUNZIP_MORE;
	while (status == GUNZIP_MORE) {
		char piece[4096];
		size_t piece_length;
		status = gunzip_read(gunzip, piece, sizeof(piece), &piece_length);
		buf_add(&answer, piece, piece_length);
	}
	require(status == GUNZIP_END);
	return answer;
}

/* The next line, NUL-terminated in place. Advances `*at` to the line after it. */
static char *answer_line(char **at)
{
	char *line = *at;
	char *end = strchr(line, '\n');
	require(end);
	*end = '\0';
	*at = end + 1;
	return line;
}

static void answer_replay(struct request *rq, char *stored, size_t stored_length)
{
	struct buf answer = answer_unpack(rq, stored, stored_length);
	char *at = answer.data, *line;
	int status = (int)strtol(answer_line(&at), NULL, 10);
	const char *type = answer_line(&at);
	while (*(line = answer_line(&at)) != '\0') {
		char *value = strstr(line, ": ");
		require(value);
		*value = '\0';
		reply_header(rq, line, "%s", value + 2);
	}
	reply_header(rq, "Idempotent-Replayed", "true");
	reply_json_length(rq, status, at, answer.length - (size_t)(at - answer.data));
	reply_of(rq)->type = type;
}

static attr_noreturn void raise_in_progress(struct request *rq)
{
	raise_error(rq, ERR_IN_PROGRESS, "a request with this " FIELD_NAME " is still running");
}

/* Reply with the stored answer. */
static void claim_replay(struct request *rq, const struct claim *claim, const struct pg_rows *row)
{
	size_t length, sealed_length;
	const uint8_t *body_hash = pg_get_bytes(rq->arena, row, 0, "body_hash", &length);
	const uint8_t *sealed = pg_get_bytes(rq->arena, row, 0, "answer", &sealed_length);
	if (length != SHA256_LEN || memcmp(body_hash, claim->body_hash, SHA256_LEN) != 0)
		raise_error(rq, ERR_IDEMPOTENCY_REUSED,
		            "this " FIELD_NAME " was used before with another request");
	if (!sealed)
		raise_in_progress(rq);
	struct held_secret seal = seal_of(claim);
	char *text = held_secret_open(rq, &seal, sealed, sealed_length);
	if (!text) {
		log_warn("stored answer cannot be decrypted: its secret is not in SEAL_SECRETS",
		         f_text("operation", claim->operation));
		raise_error(rq, ERR_CONFLICT,
		            "this " FIELD_NAME
		            " was used before; its answer can no longer be decrypted");
	}
	answer_replay(rq, text, sealed_length - GCM_OVERHEAD);
}

/* The record of the claim: the body's hash, and the answer if it is complete. */
static struct pg_rows *claim_get(struct request *rq, const struct claim *claim)
{
	return pg_query(rq, IDEMPOTENCY_GET_SQL, pg_uuid(rq->caller.account),
	                pg_text(claim->operation), pg_bytes(claim->key_hash, SHA256_LEN));
}

/* Reserve the claim; false: the stored answer was replied. */
static bool claim_reserve(struct request *rq, const struct claim *claim)
{
	struct reservation *made = arena_new_of(rq->arena, struct reservation);
	made->owner = uuid_new();
	struct pg_rows *rows =
		pg_query(rq, IDEMPOTENCY_RESERVE_SQL, pg_uuid(rq->caller.account),
	                 pg_text(claim->operation), pg_bytes(claim->key_hash, SHA256_LEN),
	                 pg_bytes(claim->body_hash, SHA256_LEN), pg_uuid(made->owner),
	                 pg_int((int64_t)request_left_ms(rq) + RESERVATION_EXTRA_MS));
	if (!pg_empty(rows)) {
		rq->http->reservation = made;
		rq->has_effects = false; /* the reservation is given up when the request fails */
		return true;
	}
	rows = claim_get(rq, claim);
	if (pg_empty(rows)) /* it was given up just now */
		raise_in_progress(rq);
	claim_replay(rq, claim, rows);
	return false;
}

/* Open the transaction and take the claim; false: the stored answer was replied. */
static bool claim_lock(struct request *rq, const struct claim *claim)
{
	pg_begin(rq);
	/* A second statement reads the record, because its snapshot must be taken after the lock:
	 * it has to contain what the last holder of the lock committed. */
	struct pg_rows *lock;
	enum err_code code = pg_try(rq, &lock, NULL, IDEMPOTENCY_LOCK_SQL, pg_int(claim->lock));
	if (code == ERR_CONTENTION)
		raise_in_progress(rq);
	if (code)
		pg_raise(rq, code);
	struct pg_rows *row = claim_get(rq, claim);
	if (pg_empty(row))
		return true;
	claim_replay(rq, claim, row);
	pg_rollback(rq);
	return false;
}

bool idempotency_begin(struct request *rq)
{
	if (rq->http->reservation) /* the handler runs again */
		return false;
	if (http_head_count(&rq->http->head, FIELD_NAME) != 1 ||
	    !is_key(request_header(rq, FIELD_NAME)))
		raise_field(rq, FIELD_NAME, "must be 1 to %d visible ASCII characters, once",
		            KEY_TEXT_MAX);
	const struct claim *claim = claim_of(rq);
	bool is_reserved = rq->http->op->flags & API_CALLS_OUT;
	return !(is_reserved ? claim_reserve(rq, claim) : claim_lock(rq, claim));
}

void idempotency_join(struct request *rq)
{
	if (rq->http->reservation)
		pg_begin(rq);
}

void idempotency_release(struct request *rq)
{
	const struct claim *claim = claim_of(rq);
	pg_query(rq, IDEMPOTENCY_RELEASE_SQL, pg_uuid(rq->caller.account),
	         pg_text(claim->operation), pg_bytes(claim->key_hash, SHA256_LEN),
	         pg_uuid(rq->http->reservation->owner));
}

/* What a repetition gets when the account has no room for the answer. */
static struct buf refusal_write(struct request *rq)
{
	const struct problem problem = {
		.code = ERR_CONFLICT,
		.detail = "this " FIELD_NAME " was used before; its answer was too large to be "
			  "kept with the others of the account",
	};
	struct buf out = {.arena = rq->arena};
	size_t length;
	const char *body = problem_body(rq->arena, &problem, rq->id, &length);
	buf_printf(&out, "%d\napplication/problem+json\n\n", err_info(problem.code)->status);
	buf_add(&out, body, length);
	return out;
}

static struct pg_param sealed_param(struct request *rq, const struct claim *claim,
                                    const struct buf *answer)
{
	uint8_t *sealed = arena_alloc(rq->arena, answer->length + GCM_OVERHEAD);
	struct held_secret seal = seal_of(claim);
	held_secret_seal(rq, &seal, answer->data, answer->length, sealed);
	return pg_bytes(sealed, answer->length + GCM_OVERHEAD);
}

/* Store the answer that has been replied; false: the reservation was taken over. */
static bool answer_store(struct request *rq)
{
	const struct reservation *reservation = rq->http->reservation;
	const struct claim *claim = claim_of(rq);
	struct buf answer = answer_pack(rq, answer_write(rq));
	bool is_large = answer.length > LARGE_MIN;
	if (is_large && rq->http->op->flags & API_CONVERGES)
		return true; /* a repetition runs the handler again */
	struct pg_param refusal = pg_null();
	if (is_large) {
		const struct buf text = refusal_write(rq);
		refusal = sealed_param(rq, claim, &text);
	}
	struct pg_rows *stored =
		pg_query(rq, IDEMPOTENCY_CREATE_SQL, pg_uuid(rq->caller.account),
	                 pg_text(claim->operation), pg_bytes(claim->key_hash, SHA256_LEN),
	                 pg_bytes(claim->body_hash, SHA256_LEN), sealed_param(rq, claim, &answer),
	                 reservation ? pg_uuid(reservation->owner) : pg_null(), refusal);
	return !pg_empty(stored);
}

void idempotency_finish(struct request *rq)
{
	if (reply_of(rq)->status >= 400) {
		while (pg_in_transaction(rq))
			pg_rollback(rq);
		return;
	}
	if (!answer_store(rq))
		raise_error(rq, ERR_UNCERTAIN,
		            "the request took too long; another one with this " FIELD_NAME
		            " has begun");
	while (pg_in_transaction(rq)) /* that of the answer, and one in it that was left open */
		pg_commit(rq);
	rq->http->reservation = NULL;
}
