/** svc-interests/feed/: Atom feeds of recommended papers (RFC 4287), for feed readers.
 *
 * A feed is read by whoever has its address, PUBLIC_URL/api/v1.0/feeds/TOKEN: feed readers can send
 * no key. The token is 256 random bits, of which only the SHA-256 is stored. Logs and traces name
 * the operation and never the target, so it is in none.
 */
#pragma once

#include "loop/request.h"
#include "task/task.h"

/** POST /papers/recommended/feeds: 201 with the address, which is shown only then. Raises
 * ERR_NOT_FOUND: no such interest; ERR_CONFLICT: the account has FEEDS_MAX feeds;
 * ERR_NOT_CONFIGURED: PUBLIC_URL is not set. */
void feed_create(struct request *rq);

/** GET /papers/recommended/feeds */
void feed_list(struct request *rq);

/** DELETE /papers/recommended/feeds/{feed_id}: its address is 404 from then on. */
void feed_delete(struct request *rq);

/** Events `member.removed` and `member.disabled`, {"person_id", "key_ids", "is_founder"}: delete
 * the feeds that the person has made, since they know the addresses. What an automation key has
 * made is the account's, and stays. */
void feed_maker_gone(struct request *rq, const struct event *event);

/** GET /feeds/{token}: the feed, or 304. */
void feed_get(struct request *rq);
