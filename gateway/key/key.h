/** The operations on the API keys of the caller's account. */
#pragma once

#include "loop/request.h"
#include "pg/pg.h"
#include "task/task.h"

#define KEY_NAME_MAX 200 /* characters */

void key_list(struct request *rq);
void key_create(struct request *rq);
void key_update(struct request *rq);
void key_revoke(struct request *rq);
void key_delete(struct request *rq);

/** The text of a new key and what is stored of it; in the arena. */
struct key_secret {
	const char *text;
	struct pg_param shown, hash;
};
struct key_secret key_secret_new(struct request *rq, enum key_kind kind);

/** The key object `json` with the text of the key in its member `key`; in the arena. */
const char *key_json_with_text(struct request *rq, const struct key_secret *secret,
                               const char *json);

/** The JSON array of the scopes' names, in the arena. */
const char *key_scopes_json(struct request *rq, uint64_t scopes);

/** The mask of the member `scopes` of the body. Adds a fault to the problem for each item that is
 * not a scope. */
uint64_t key_scopes_read(struct request *rq);

/** Raise the outcome of api_key_new() or api_key_provision(), unless the key was made. The rows
 * have `made` and `outcome`. */
void key_require_made(struct request *rq, const struct pg_rows *rows);

/** The role of who acts with a key in the caller's account (role.h); `none`: it is an automation
 * key whose maker is no member any more. In a transaction, it does not change until its end. Raises
 * ERR_UNAUTHENTICATED: the person of a personal key is no member. In the arena. */
const char *key_role(struct request *rq, const char *key);

/** Require that the role of who acts with the key `maker` may give a key of this kind these scopes.
 * Raises besides ERR_SCOPE. */
void key_require_role(struct request *rq, const char *maker, enum key_kind kind, uint64_t scopes);

/** Require besides that the key is valid and has each of the scopes, as api_key_add() does. In a
 * transaction, the key does not change until its end. */
void key_require_scopes(struct request *rq, const char *maker, enum key_kind kind, uint64_t scopes);

/** Log that a key was revoked: what has to be repeated after a restore. After the commit. */
void key_log_revoked(const char *id);

/** Commit a statement that revoked or deleted the key `id`, and reply with the JSON that it
 * returned. Raises ERR_NOT_FOUND: there is no row. */
void key_invalidate(struct request *rq, const struct pg_rows *rows, const char *id);

/** Revoke a key of any account, for commands. Replicas that know it accept it for 5 seconds more.
 * False: there is no such key. */
bool key_revoke_any(struct request *rq, const char *id);

/** A key to be made. */
struct new_key {
	const char *name;
	enum key_kind kind;
	uint64_t scopes;             /* mask */
	const char *repo, *interest; /* NULL: none */
	int64_t expires_in_days;     /* 0: never */
};

/** Event `repository_name`: the limits of keys follow, and no process goes on with the old
 * one. */
void key_repository_renamed(struct request *rq, const struct event *event);

/** Insert a key of `account`. Returns it as JSON, in the arena, with its text in the member `key`.
 * It expires no later than the caller's own key, if the request has one.
 *
 * Raises ERR_UNAUTHENTICATED: the caller's key was revoked meanwhile; ERR_SCOPE: it lacks one of
 * the scopes; ERR_CONFLICT: its person has 200 keys of the account that are not revoked, or the
 * account 1,000. */
const char *key_insert(struct request *rq, struct pg_param account, const struct new_key *key);
