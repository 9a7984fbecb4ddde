/** svc-fleet/inbox/: what waits for somebody. The items are derived by rules (inbox_items() in
 * inbox.fn.sql); only which of them an account has archived is stored, and which were announced to
 * it as messages (announce.fn.sql). */
#pragma once

#include "base/config.h"
#include "loop/request.h"
#include "task/task.h"

/** GET /fleet/agents/inbox */
void inbox_list(struct request *rq);

/** POST /fleet/agents/inbox/dismiss: archive items, or with `undo` bring them back. */
void inbox_dismiss(struct request *rq);

/** INBOX_CHECK */
extern const struct setting INBOX_SETTINGS[];
extern int64_t inbox_check_ms;

/** One pass of the recurring work: announce new items of the inboxes that are due for a look. */
void inbox_announce(struct request *rq);

/** Event `key.expiring`, {"key_id", "name", "repo", "expires_at"}: it is an item from now on. */
void inbox_key_expiring(struct request *rq, const struct event *event);

/** Event `key.updated`, the same members: an item about the key says when it expires now, and is
 * none if that is later than in 30 days. */
void inbox_key_updated(struct request *rq, const struct event *event);

/** Handler of the events of experiments: what somebody should be reminded of, and from when on. */
void inbox_experiment(struct request *rq, const struct event *event);

/** Handler of `endpoint` in events.code_host: an endpoint of messages was disabled, or is not any
 * more. */
void inbox_endpoint_disabled(struct request *rq, const struct event *event);

/** Handler of `connection` in events.code_host: a connection has ended with the place in the
 * account of who made it, or there is one again. */
void inbox_connection_gone(struct request *rq, const struct event *event);
