/** Messages: what the services report to accounts, taken from the event streams.
 *
 * A message is an event of the type `message`, which the SQL function message_emit() notes in the
 * transaction of the change; its data are {"type": "run.finished", "data": {…}}. It is taken in by
 * one statement: its row, and a delivery for each endpoint of the account that wants it. An event
 * that comes twice makes one message, since its id and its day are the message's key. One with the
 * member `endpoint_id`, beside `type`, is the digest of this endpoint, and for no other. */
#pragma once

#include "json/json.h"
#include "task/task.h"

/** Most bytes of a body. */
#define MESSAGE_BYTES_MAX 20480

/** What may wait for an endpoint; beyond that the oldest is dropped. */
#define MESSAGES_WAITING_MAX 10000

/** Handler of `message` in every stream. */
void message_take(struct request *rq, const struct event *event);

/** The id as receivers see it, `webhook-id`: `msg_` and the 32 hex digits of a UUID text. In the
 * arena. */
const char *message_public_id(struct arena *arena, const char *id);

/** The parts of a body. */
struct message_parts {
	const char *id; /* UUID text */
	const char *type;
	int64_t at_ms;
	const char *account; /* UUID text */
	yyjson_val *data;    /* an object */
};

/** The body that is sent, minified, in the arena: {"id","type","timestamp","account_id","data"}. A
 * `data.url` that begins with a slash is put behind PUBLIC_URL. One over MESSAGE_BYTES_MAX is cut:
 * its longest lists and texts become shorter, and `data.truncated` is true. */
const char *message_body(struct arena *arena, const struct message_parts *parts);
