/** Problem details (RFC 9457), the body of every error reply:
 *
 *     {"type":"about:blank","title":"Bad Request","status":400,
 *      "detail":"limit: must be an integer of at least 1",
 *      "instance":"<request id>","error":"invalid_request",
 *      "errors":[{"field":"limit","message":"must be an integer of at least 1"}]}
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <stddef.h>

/** Invalid fields that the reply names; more are only counted. */
#define PROBLEM_FIELDS_MAX 100

struct problem_field {
	const char *field;
	const char *message;
	struct problem_field *next;
};

struct problem {
	enum err_code code; /* ERR_NONE: nothing is wrong */
	const char *detail;
	const char *scope; /* with ERR_SCOPE: what the key lacks, one or more with spaces between */
	const char *budget; /* with ERR_BUDGET_REACHED: the budget, as JSON text */
	const char *allow;  /* with ERR_METHOD: the value of Allow */
	/* with ERR_MEDIA_TYPE, for a content coding: the value of Accept-Encoding */
	const char *accept_encoding;
	unsigned retry_after_s; /* 0: none */
	const char *raw_body;   /* sent as application/json and not as a problem; NULL: none */
	struct problem_field *fields, **fields_tail;
	size_t field_count; /* with those that are not in `fields` */
};

/** Add an invalid field; copies the strings into the arena. After PROBLEM_FIELDS_MAX it is only
 * counted. */
void problem_add_field(struct arena *arena, struct problem *problem, const char *field,
                       const char *format, ...) attr_printf(4, 5);

/** Copy `from` and its strings into the arena. */
void problem_copy(struct arena *arena, struct problem *to, const struct problem *from);

/** What is wrong, in a sentence; in the arena or static. `code` is not ERR_NONE. */
const char *problem_detail(struct arena *arena, const struct problem *problem);

/** The JSON body, in the arena. `instance` is the request id; may be NULL. */
char *problem_body(struct arena *arena, const struct problem *problem, const char *instance,
                   size_t *ret_length);

/** The value of WWW-Authenticate for 401 and ERR_SCOPE, in the arena; NULL for other errors. */
char *problem_www_authenticate(struct arena *arena, const struct problem *problem);

/** The value of Retry-After in seconds; 0: the reply has none. A 503 asks the client to try again
 * at once, unless the request may have been carried out. */
unsigned problem_retry_after_s(const struct problem *problem);
