/** The reply that a handler has chosen and that waits to be sent; internal to libcommon. */
#pragma once

#include "http/server.h"
#include "loop/request.h"

#define REPLY_FIELDS_MAX 12

struct reply {
	int status;       /* 0: none was chosen yet */
	const char *type; /* Content-Type */
	const char *body;
	size_t length;
	struct http_field fields[REPLY_FIELDS_MAX];
	size_t field_count;
};

/** The request's reply, made empty on first use. */
struct reply *reply_of(struct request *rq);

/** Turn rq->problem into the reply, dropping what was chosen. */
void reply_problem(struct request *rq);

/** Send the reply over the exchange. */
void reply_send(struct request *rq);
