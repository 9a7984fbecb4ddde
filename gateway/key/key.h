/** The operations on the API keys of the caller's account. */
#pragma once

#include "loop/request.h"
#include "pg/pg.h"

#define KEY_NAME_MAX 200 /* characters */

void key_list(struct request *rq);
void key_create(struct request *rq);
void key_update(struct request *rq);
void key_revoke(struct request *rq);
void key_delete(struct request *rq);

/** A key to be made. */
struct new_key {
	const char *name;
	enum key_kind kind;
	uint64_t scopes;             /* mask */
	const char *repo, *interest; /* NULL: none */
	int64_t expires_in_days;     /* 0: never */
};

/** Insert a key of `account`. Returns it as JSON, in the arena, with its text in the member `key`. It
 * expires no later than the caller's own key, if the request has one.
 *
 * Raises ERR_UNAUTHENTICATED: the caller's key was revoked meanwhile; ERR_CONFLICT: the account has 200
 * keys that are not revoked. */
const char *key_insert(struct request *rq, struct pg_param account, const struct new_key *key);
