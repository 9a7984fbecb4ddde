/** Calls of an OpenAI-compatible HTTP interface. */
#pragma once

#include "client/fetch.h"
#include "loop/request.h"

#include <stddef.h>
#include <stdint.h>

struct openai_call {
	const char *base_url; /* such as `https://api.example.com/v1` */
	const char *path;     /* such as `/embeddings` */
	const char *key;      /* bearer key; "": none */
	const char *body;     /* JSON */
	size_t response_max_bytes;
	uint64_t timeout_ms;
};

/** POST `body` to `base_url` + `path`, as a call that changes nothing (fetch.h). Returns the error
 * of fetch_try(). The answer is in the arena of `rq` and may have any status. Suspends. */
enum err_code openai_post_try(struct request *rq, const struct openai_call *call,
                              struct fetch_response **ret_answer);
