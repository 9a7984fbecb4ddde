#include "input/http_call.h"

#define NOTHING_DONE       "nothing was done, try again"
#define ALL_USED           "too many large requests are in progress; " NOTHING_DONE
#define ACCOUNT_SHARE_USED "too many large requests of this account are in progress; " NOTHING_DONE
#define OPEN_SHARE_USED    "too many large requests without a key are in progress; " NOTHING_DONE

bool http_call_needs_key(const struct api_op *op)
{
	return !op || !(op->flags & API_OPEN);
}

/* The budget is used up, or the account's share of it: then 429, since others are served. */
struct problem http_call_full_problem(const struct request *rq, enum err_code code)
{
	const char *share =
		http_call_needs_key(rq->http->op) ? ACCOUNT_SHARE_USED : OPEN_SHARE_USED;
	return (struct problem){
		.code = code,
		.detail = code == ERR_UNAVAILABLE ? ALL_USED : share,
		.retry_after_s = 1,
	};
}

void http_call_raise_full(struct request *rq, enum err_code code)
{
	const struct problem problem = http_call_full_problem(rq, code);
	raise_problem(rq, &problem);
}

/* Memory for a body that is parsed, copied and written again, as request_input() does: for each
 * byte, in the copies, and for each value, in the parsed document and in the one that is written.
 * Buffers that grow can take up to 8 for each byte (measured with text of 1 MiB), but not all
 * requests do so at the same time. */
#define BYTES_PER_BYTE  3
#define BYTES_PER_VALUE (sizeof(yyjson_val) + sizeof(yyjson_mut_val))

enum err_code http_call_take_json_try(struct request *rq, size_t length, size_t values)
{
	size_t bytes = BYTES_PER_BYTE * length + BYTES_PER_VALUE * values;
	return http_body_take_work(&rq->http->received, bytes);
}

void http_call_take_json(struct request *rq, size_t length, size_t values)
{
	enum err_code code = http_call_take_json_try(rq, length, values);
	if (code == ERR_TOO_LARGE)
		raise_error(rq, code, "the body has more values than this server has memory for");
	if (code)
		http_call_raise_full(rq, code);
}
