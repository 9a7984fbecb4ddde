/** The account's API keys: list, create, change, revoke, delete. */
#pragma once

#include "loop/request.h"

#define KEY_NAME_MAX 200 /* characters */

void key_list(struct request *rq);
void key_create(struct request *rq);
void key_update(struct request *rq);
void key_revoke(struct request *rq);
void key_delete(struct request *rq);

/** Insert a key of `account` and return its JSON with the plaintext in `key`, in the arena.
 * `expires_in_days` 0: never. */
const char *key_insert(struct request *rq, const char *account, const char *name,
                       enum key_kind kind, uint64_t scopes, const char *repo, const char *interest,
                       int64_t expires_in_days);
