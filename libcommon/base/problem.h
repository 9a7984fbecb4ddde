/** Problem details (RFC 9457), the one shape of every error reply:
 *
 *     {"type":"about:blank","title":"Bad Request","status":400,"detail":"1 field is invalid",
 *      "instance":"<request id>","error":"invalid_request",
 *      "errors":[{"field":"limit","message":"must be an integer of at least 1"}]}
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <stddef.h>

struct problem_field {
	const char *field;
	const char *message;
	struct problem_field *next;
};

struct problem {
	enum err_code code; /* ERR_NONE: nothing is wrong */
	const char *detail;
	const char *scope;      /* ERR_SCOPE: what the key lacks */
	const char *allow;      /* ERR_METHOD */
	unsigned retry_after_s; /* 0: none */
	const char *raw_body;   /* sent instead, as application/json: the one exception that the
				   contract names */
	struct problem_field *fields, **fields_tail;
	size_t field_count;
};

/** Note one invalid field; strings are copied into the arena. */
void problem_add_field(struct arena *arena, struct problem *problem, const char *field,
                       const char *format, ...) attr_printf(4, 5);

/** Copy `from` with its texts into the arena. */
void problem_copy(struct arena *arena, struct problem *to, const struct problem *from);

/** The JSON body, in the arena. `instance` is the request id, may be NULL. */
char *problem_body(struct arena *arena, const struct problem *problem, const char *instance,
                   size_t *ret_length);

/** The value of WWW-Authenticate that goes with 401 and ERR_SCOPE; NULL otherwise. In the arena. */
char *problem_challenge(struct arena *arena, const struct problem *problem);
