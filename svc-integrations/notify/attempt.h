/** One attempt: a request to an endpoint, and what its outcome means. */
#pragma once

#include "loop/request.h"

#include <stddef.h>
#include <stdint.h>

/** What is sent, and where. */
struct sending {
	const char *endpoint, *account;  /* UUID texts */
	const char *kind;                /* of the endpoint */
	const char *name;                /* of the endpoint */
	const char *url;                 /* or the address of a mail */
	const char *message, *delivery;  /* UUID texts */
	const char *body;                /* JSON */
	const void *secret, *old_secret; /* sealed; NULL: none */
	size_t secret_length, old_secret_length;
	int tries;          /* failed attempts of this round, before this one */
	const char *target; /* of the endpoint: lane.fn.sql */
};

#define ATTEMPT_ERROR_MAX    256
#define ATTEMPT_RESPONSE_MAX 1024

/** How it ended. */
struct outcome {
	bool is_delivered;
	bool is_final;   /* not delivered, and not to be tried again */
	bool is_refused; /* the mail server refuses the address for good */
	int status;      /* of the answer, of SMTP for a mail; 0: there was none */
	int64_t at_ms;   /* when it began */
	uint64_t duration_ms;
	uint64_t retry_ms;   /* when it is tried again; meaningless if is_delivered or is_final */
	uint64_t pause_ms;   /* before which nothing is sent to the endpoint */
	const char *disable; /* why nothing more is sent to the endpoint; NULL: it is */
	char error[ATTEMPT_ERROR_MAX];           /* "": it was delivered for certain */
	char response[ATTEMPT_RESPONSE_MAX + 1]; /* the beginning of the answer */
};

/** Make the attempt. Suspends; raises only when the request is cancelled, and for a client when too
 * many calls run (fetch_raise_if_full()). */
void attempt_make(struct request *rq, const struct sending *sending, struct outcome *ret);

/* The rest is for the attempts of each kind. */

/** Set when it is tried again: not before `asked_ms`; or that it is not. */
void attempt_plan_retry(struct outcome *outcome, int tries, uint64_t asked_ms);

/** The endpoint's secret does not open. */
void attempt_fail_unreadable(const struct sending *sending, struct outcome *outcome);
