#include "input/content_coding.h"

#include "base/base.h"
#include "http/gunzip.h"
#include "input/http_call.h"
#include "loop/wait.h"

struct decoding {
	struct gunzip *gunzip;
	char *out;
	size_t room, length; /* of out; decoded */
	enum gunzip_status status;
};

static void decode_piece(void *arg)
{
	struct decoding *of = arg;
	of->status = gunzip_read(of->gunzip, of->out, of->room, &of->length);
}

static void require_body_code(struct request *rq, enum err_code code)
{
	if (code == ERR_UNAVAILABLE || code == ERR_RATE_LIMITED)
		http_call_raise_full(rq, code);
	if (code)
		raise_error(rq, code, "the body is too large when it is decoded");
}

static attr_noreturn void raise_malformed(struct request *rq, const char *fault)
{
	problem_add_field(rq->arena, &rq->problem, "body", "%s", fault);
	raise_error(rq, ERR_MALFORMED, "the body %s", fault);
}

static void decode_gzip(struct request *rq, struct http_body *body)
{
	http_body_decode_begin(body);
	struct decoding decoding = {
		.gunzip = gunzip_new(rq->arena, body->coded, body->coded_length),
	};
	do {
		require_body_code(rq, http_body_decode_room(body, &decoding.out, &decoding.room));
		size_t bytes = MAX_OF(decoding.room, gunzip_left(decoding.gunzip));
		fiber_offload_text(rq, bytes, decode_piece, &decoding);
		require_body_code(rq, http_body_decoded(body, decoding.length));
	} while (decoding.status == GUNZIP_MORE);
	if (decoding.status == GUNZIP_TRUNCATED)
		raise_malformed(rq, "ends before its gzip is complete");
	if (decoding.status == GUNZIP_INVALID)
		raise_malformed(rq, "is not valid gzip");
	http_body_decode_end(body);
}

void content_decode(struct request *rq, struct http_body *body)
{
	enum content_coding coding = content_coding_of(&rq->http->head);
	if (coding == CODING_OTHER) {
		rq->problem.accept_encoding = "gzip";
		raise_error(rq, ERR_MEDIA_TYPE, "the Content-Encoding of the body must be gzip");
	}
	if (coding == CODING_GZIP)
		decode_gzip(rq, body);
}
