/** Calls to the public interface, with EXPOPS_KEY. */
#pragma once

#include "base/config.h"
#include "client/fetch.h"

#include <yyjson.h>

/** EXPOPS_URL, EXPOPS_KEY. */
extern const struct setting API_SETTINGS[];

/** A call and its answer. */
struct api_call {
	const char *path;    /* below /api/v1.0 */
	const char *content; /* JSON to POST; NULL: GET */
	uint64_t timeout_ms;
	const struct http_field *fields; /* more of them */
	size_t field_count;
	struct arena *arena; /* for `json`; NULL: that of the request */
	struct fetch_response *answer;
	yyjson_val *json; /* of the answer; NULL: none */
};

/** Make the call. Suspends. An error: there was no answer, or one that says to try again: 429, or
 * 5xx. */
enum err_code api_call_try(struct request *rq, struct api_call *call);

/** What a refusal says. */
const char *api_detail(const struct api_call *call);
