/** gateway/provisioned/: the operations with which services make, read and revoke keys of an
 * account (internal.def): the key of an agent in a repository, for example.
 *
 * A key has a purpose, named by the service, such as `agent:INTEREST:owner/name`. An account has
 * one valid key for each purpose: making a second one revokes the first in the same transaction,
 * and announces it as `key.replaced`. So a service that does not know whether its first attempt
 * succeeded makes the key again. Without a purpose a key is temporary: five of an interest may be
 * valid, a sixth ends the oldest, and they do not count in the account's 200 keys.
 *
 * A key is made on behalf of another one, its maker, and has no scope that this lacks.
 *
 * Services see and revoke only keys that services made, never those of users. */
#pragma once

#include "loop/request.h"

#define KEY_PURPOSE_MAX       300         /* characters */
#define KEY_TEMPORARY_MAX_S   (24 * 3600) /* a key without a purpose */
#define KEY_PROVISIONED_MAX_S (365 * 24 * 3600)

/** Make an automation key. The answer is its key object with its text in `key`, and in `replaced`
 * the id of the key that it replaces, or null. */
void provisioned_key_create(struct request *rq);

/** Whether `maker_id` may have a key made: the refusals of provisioned_key_create(), before any
 * work for the key begins. The answer is {"scopes"}, those that the key would have. */
void provisioned_key_check(struct request *rq);

/** A key by its id, also a revoked or deleted one. */
void provisioned_key_get(struct request *rq);

/** Revoke a key, which is named by its id, or the valid one by its purpose: for a service that does
 * not know whether it has made one. A revoked or deleted one is answered alike by its id. */
void provisioned_key_revoke(struct request *rq);
