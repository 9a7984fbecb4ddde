/** What can go wrong, once, for every process.
 *
 * A code names one kind of failure; its row in error.c gives the HTTP status, the stable slug
 * (`error` of a problem body) and the title. Inside a fiber failures are raised (request.h),
 * outside one a function that may fail returns the code and sets its `ret_` parameters on success
 * alone.
 *
 * Codes are never renumbered or reused.
 */
#pragma once

enum err_code {
	ERR_NONE = 0,
	ERR_INVALID = 1,             /* 400 a field, parameter or body breaks its contract */
	ERR_MALFORMED = 2,           /* 400 not HTTP or not JSON at all */
	ERR_UNAUTHENTICATED = 3,     /* 401 no usable key */
	ERR_SCOPE = 4,               /* 403 the key lacks the scope */
	ERR_FORBIDDEN = 5,           /* 403 the caller may not, whatever its scopes */
	ERR_NOT_FOUND = 6,           /* 404 absent, or another account's */
	ERR_METHOD = 7,              /* 405 */
	ERR_CONFLICT = 8,            /* 409 duplicate, or not in this state */
	ERR_IN_PROGRESS = 9,         /* 409 the same Idempotency-Key is still running */
	ERR_GONE = 10,               /* 410 */
	ERR_PRECONDITION = 11,       /* 412 If-Match does not match */
	ERR_TOO_LARGE = 12,          /* 413 */
	ERR_MEDIA_TYPE = 13,         /* 415 */
	ERR_IDEMPOTENCY_REUSED = 14, /* 422 the same Idempotency-Key with another body */
	ERR_RATE_LIMITED = 15,       /* 429 */
	ERR_HEAD_TOO_LARGE = 16,     /* 431 */
	ERR_INTERNAL = 17,           /* 500 a bug or a fault that nobody foresaw */
	ERR_NOT_BUILT = 18,          /* 501 */
	ERR_UPSTREAM = 19,           /* 502 a counterpart answered nonsense */
	ERR_UNAVAILABLE = 20, /* 503 the database, Redis or a service is away; nothing was done */
	ERR_UNCERTAIN = 21,   /* 503 the connection broke after a write was sent: it may be done */
	ERR_TIMEOUT = 22,     /* 504 the deadline passed */
	ERR_CLIENT_GONE = 23, /* never sent: whom it was for has gone */
	ERR_REQUEST_TIMEOUT = 24, /* 408 the client took too long to send its request */
	ERR_NOT_CONFIGURED = 25,  /* 409 needs a provider that is not configured */
	ERR_EXPECTATION = 26,     /* 417 */
	ERR_VERSION = 27,         /* 505 neither HTTP/1.0 nor HTTP/1.1 */
	ERR_TARGET_TOO_LONG = 28, /* 414 */
	ERR_COUNT
};

/** The row of one code. */
struct err_info {
	int status;         /* HTTP status */
	const char *slug;   /* `error` of the problem body, snake_case, stable */
	const char *title;  /* short and the same for every occurrence */
	const char *detail; /* a sentence for a client, where whoever fails has none of its own */
};

/** Never NULL; an unknown code is answered as ERR_INTERNAL. */
const struct err_info *err_info(enum err_code code);
