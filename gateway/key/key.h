/** The operations on the API keys of the caller's account. */
#pragma once

#include "loop/request.h"

#define KEY_NAME_MAX 200 /* characters */

void key_list(struct request *rq);
void key_create(struct request *rq);
void key_update(struct request *rq);
void key_revoke(struct request *rq);
void key_delete(struct request *rq);

/** Insert a key of `account` (a UUID as text). Returns the key as JSON, in the arena, with its text
 * in the member `key`. `scopes` is a mask; `repo` and `interest` may be NULL; `expires_in_days` 0:
 * never. */
const char *key_insert(struct request *rq, const char *account, const char *name,
                       enum key_kind kind, uint64_t scopes, const char *repo, const char *interest,
                       int64_t expires_in_days);
