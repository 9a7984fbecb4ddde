/** Error codes.
 *
 * A code stands for one kind of failure. Its row in error.c has the HTTP status, the slug (`error`
 * in a problem body) and the title. Inside a fiber, errors are raised (loop/request.h); outside, a
 * function that may fail returns the code and sets its `ret_` parameters only on success.
 *
 * Codes are never renumbered or reused.
 */
#pragma once

#include <stdbool.h>

enum err_code {
	ERR_NONE = 0,
	ERR_INVALID = 1,             /* 400 a field, parameter or body is invalid */
	ERR_MALFORMED = 2,           /* 400 not HTTP, or not JSON */
	ERR_UNAUTHENTICATED = 3,     /* 401 no valid key */
	ERR_SCOPE = 4,               /* 403 the key lacks the scope */
	ERR_FORBIDDEN = 5,           /* 403 not allowed, regardless of the scopes */
	ERR_NOT_FOUND = 6,           /* 404 it does not exist, or belongs to another account */
	ERR_METHOD = 7,              /* 405 */
	ERR_CONFLICT = 8,            /* 409 a duplicate, or the state does not allow it */
	ERR_IN_PROGRESS = 9,         /* 409 a request with this Idempotency-Key is running */
	ERR_GONE = 10,               /* 410 */
	ERR_PRECONDITION = 11,       /* 412 If-Match does not match */
	ERR_TOO_LARGE = 12,          /* 413 */
	ERR_MEDIA_TYPE = 13,         /* 415 */
	ERR_IDEMPOTENCY_REUSED = 14, /* 422 the Idempotency-Key was used with another body */
	ERR_RATE_LIMITED = 15,       /* 429 */
	ERR_HEAD_TOO_LARGE = 16,     /* 431 */
	ERR_INTERNAL = 17,           /* 500 a bug or an unexpected fault */
	ERR_NOT_IMPLEMENTED = 18,    /* 501 an unknown method */
	ERR_UPSTREAM = 19,           /* 502 another server sent an unusable response */
	ERR_UNAVAILABLE = 20,     /* 503 Postgres, Redis or a service is down; nothing was done */
	ERR_UNCERTAIN = 21,       /* 503 the connection broke after a write was sent */
	ERR_TIMEOUT = 22,         /* 504 the deadline passed */
	ERR_CLIENT_GONE = 23,     /* never sent: the client has closed the connection */
	ERR_REQUEST_TIMEOUT = 24, /* 408 the client took too long to send its request */
	ERR_NOT_CONFIGURED = 25,  /* 409 needs a provider that is not configured */
	ERR_EXPECTATION = 26,     /* 417 */
	ERR_VERSION = 27,         /* 505 neither HTTP/1.0 nor HTTP/1.1 */
	ERR_TARGET_TOO_LONG = 28, /* 414 */
	ERR_CONTENTION = 29,      /* 503 concurrent work was in the way; nothing was done */
	ERR_AUTH_TYPE = 30,       /* 409 the provider is connected in another way */
	ERR_MISDIRECTED = 31, /* 421 between processes: sent to the wrong one; nothing was done */
	ERR_TOO_MANY_ENDPOINTS = 32, /* 409 the account has as many endpoints as it may */
	ERR_NOT_ACCEPTABLE = 33,     /* 406 */
	ERR_CROSS_SITE = 34,     /* 403 a page of another site makes the request, or may do so */
	ERR_AGENT_PAUSED = 35,   /* 409 the agent of the interest is paused */
	ERR_RESULTS_EXIST = 36,  /* 409 the plan of an experiment with results is fixed */
	ERR_APP_EXISTS = 37,     /* 409 there is an app at the code host */
	ERR_BUDGET_REACHED = 38, /* 409 a budget has too little left for a run */
	ERR_LAST_OWNER = 39,     /* 409 the account would have no owner */
	ERR_OTHER_EMAIL = 40,    /* 403 the invitation is for another address */
	ERR_TOO_MANY_INVITATIONS = 41, /* 409 the account has as many open invitations as it may */
	ERR_LOGIN_NOT_CONFIGURED = 42, /* 404 there is no provider at which people log in */
	ERR_MIXED_TEMPLATES = 43,      /* 400 results of several versions of a template */
	ERR_ACCOUNT_CHANGED = 44, /* 409 the session shows another account than the page does */
	ERR_COUNT
};

/** What a failure says of the work that met it: whether something was done, and whether the same
 * work may succeed later. */
enum err_class {
	ERR_CLASS_NONE,      /* of ERR_NONE */
	ERR_CLASS_REQUEST,   /* nothing was done: the request, or what it names, is wrong */
	ERR_CLASS_STATE,     /* nothing was done, until somebody changes the state of something */
	ERR_CLASS_LATER,     /* nothing was done for now: a part of the system was unavailable,
			      concurrent work was in the way, or a limit of requests reached */
	ERR_CLASS_UNCERTAIN, /* as LATER, but it may have been done */
	ERR_CLASS_FAULT,     /* a part does not work as it should: what was done is not known, and
			    another attempt may fail in the same way */
};

struct err_info {
	int status; /* HTTP status */
	enum err_class class;
	const char *slug;   /* `error` in the problem body; snake_case; never changes */
	const char *title;  /* short; the same for every occurrence */
	const char *detail; /* default sentence for the client */
};

/** The row of a code, never NULL; the row of ERR_INTERNAL for an unknown code. */
const struct err_info *err_info(enum err_code code);

/* The three questions that callers ask of a failure; all false of ERR_NONE. A caller that means
 * another set of codes says why beside it. */

/** Whether the same work, done again, gets the same answer: REQUEST and STATE. */
bool err_is_final(enum err_code code);

/** Whether the same work may succeed later, so that this does not count as a failure of it: LATER
 * and UNCERTAIN. */
bool err_is_transient(enum err_code code);

/** Whether nothing was done: REQUEST, STATE and LATER. */
bool err_is_undone(enum err_code code);
